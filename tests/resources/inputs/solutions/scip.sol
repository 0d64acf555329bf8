objective value:                                 5.18
c2                                                  2 	(obj:2)
c1                                                  1 	(obj:1)
t4                                                0.6 	(obj:0.3)
