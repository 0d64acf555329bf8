Stopped on time (no integer solution - continuous used) - objective value 5.10000000
      0 c1                   0.8                       0
      1 c2                     2                       0
      2 c3                     0                       5
      3 t4                     1                    -0.2
