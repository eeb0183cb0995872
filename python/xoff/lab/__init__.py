"""A laboratory on one Linux machine: network namespaces as hosts, real TCP, real control messages.

`network` builds and removes the hosts, `deploy` runs the allocator and the agents, `traffic` sends
and receives, `experiments` has the paper's set-ups, and `kills` what happens when parts are killed.
"""
