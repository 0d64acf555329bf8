# Solution for model m
# Objective value = 5.18
c1 3
c2 1
c3 0
t4 0.6
