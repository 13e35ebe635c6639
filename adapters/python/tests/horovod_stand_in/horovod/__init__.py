"""Stands in for Horovod, which is built with the frameworks that it connects: as much of it as its documentation says
of ranks, allreduce and DistributedOptimizer. Processes meet in a folder in place of a network."""
