c Problem:    tiny
c Rows:       2
c Columns:    4
c Non-zeros:  6
c Status:     INTEGER OPTIMAL
c Objective:  cost = 5.18 (MINimum)
c
s mip 2 4 o 5.18
i 1 4
i 2 5.3
j 1 3
j 2 1
j 3 0
j 4 0.6
e o f
