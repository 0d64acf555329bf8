c Problem:    tiny
c Rows:       2
c Columns:    4
c Non-zeros:  6
c Status:     OPTIMAL
c Objective:  cost = 5.1 (MINimum)
c
s bas 2 4 f f 5.1
i 1 b 2.8 0
i 2 l 5.3 1
j 1 b 0.8 0
j 2 u 2 0
j 3 l 0 5
j 4 u 1 -0.2
e o f
