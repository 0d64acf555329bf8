Columns
    Index Status        Lower        Upper       Primal         Dual  Type        Name
        0                   0            3            3               Integer     c1
        1                   0            2            1               Integer     c2
        2                   0            2            0               Integer     c3
        3                   0            1          0.6               Continuous  t4
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0                -inf            4            4               ports_1
        1                 5.3          inf          5.3               need_2

Model status: Optimal

Objective value: 5.18
