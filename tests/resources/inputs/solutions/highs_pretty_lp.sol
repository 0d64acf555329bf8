Columns
    Index Status        Lower        Upper       Primal         Dual  Name
        0     BS            0            3          0.8            0  c1
        1     UB            0            2            2            0  c2
        2     LB            0            2            0            5  c3
        3     UB            0            1            1         -0.2  t4
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0     BS         -inf            4          2.8           -0  ports_1
        1     LB          5.3          inf          5.3            1  need_2

Model status: Optimal

Objective value: 5.1
