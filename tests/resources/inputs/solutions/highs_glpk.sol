c Problem:    m
c Rows:       3
c Columns:    4
c Non-zeros:  10
c Status:     INTEGER OPTIMAL
c Objective:  cost = 5.18 (MINimum)
c
s mip 3 4 o 5.18
i 1 5.18
i 2 4
i 3 5.3
j 1 3
j 2 1
j 3 0
j 4 0.6
e o f
