Infeasible - objective value 49.80000000
**       0 c1                  45.5                       0
      1 c2                     2                  -1e-18
      2 c3                     0                       5
      3 t4                     1                    -0.2
