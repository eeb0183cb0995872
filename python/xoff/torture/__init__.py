"""Random worlds, each simulated in several ways that must agree.

`worlds` draws a scenario, `settings` changes settings at random, `ways` says how it is cut and on
how many threads it runs, `worker` runs it in a process of its own, `pool` talks to that process,
`trial` compares the ways, `shrink` makes a failing world small, `campaign` does all of it until the
time is over.
"""
