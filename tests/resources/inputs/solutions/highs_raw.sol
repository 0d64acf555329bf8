Model status
Optimal

# Primal solution values
Feasible
Objective 5.18
# Columns 4
c1 3
c2 1
c3 0
t4 0.6
# Rows 2
ports_1 4
need_2 5.3

# Dual solution values
None

# Basis
HiGHS_basis_file v2
None
