c Problem:    bad
c Rows:       3
c Columns:    4
c Non-zeros:  10
c Status:     INTEGER EMPTY
c Objective:  cost = inf (MINimum)
c
s mip 3 4 n inf
