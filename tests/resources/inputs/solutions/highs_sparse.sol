Model status
Optimal

# Primal solution values
Feasible
Objective 5.18
# Columns -3
c1 3 0
c2 1 1
t4 0.6 3
