Columns
    Index Status        Lower        Upper       Primal         Dual  Type        Name
        0                   0            3                            Integer     c1
        1                   0            2                            Integer     c2
        2                   0            2                            Integer     c3
        3                   0            1                            Continuous  t4
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0                -inf            4                            ports_1
        1                  50          inf                            need_2

Model status: Infeasible

Objective value: inf
