"""Random scenarios ("worlds"), each simulated in several ways that must agree.

`worlds` draws scenarios, `settings` draws values of settings, and `drawing` keeps what the engine
accepts. `ways` lists partitions and threads. `worker` runs a world in a separate process, `pool`
talks to that process, `trial` compares the ways, `shrink` reduces a failing world, and `campaign`
repeats all of it until the time is over.
"""
