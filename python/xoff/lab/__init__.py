"""A laboratory on one Linux machine: network namespaces as hosts, real TCP, real control messages.

`network` builds and removes the hosts, `deploy` runs the allocator and the agents, `traffic` sends
and receives, `experiments` has the paper's set-ups, `stages` times the parts of a change, `faults`
loses control messages, and `kills` kills the allocator and agents. `record` writes results.
"""
