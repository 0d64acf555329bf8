Optimal - objective value 5.18000000
      0 ports_1                3                       0
      1 need_2               5.3                     0.6
      0 c1                     1                     0.4
      1 c2                     2                     0.8
      2 c3                     0                       5
      3 t4                   0.6                       0
