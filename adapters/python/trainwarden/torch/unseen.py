"""Unseen: what a run does not have, and what would bring it, in words for the run."""

HIDDEN_STEPS = (
    "step() of {0}, which torch.compile has compiled: a step ends when the next one begins, gradients that are added up "
    "over several backward passes are missing, and rules inside the training cannot veto it; compile the model alone, "
    "model.compile(), to see all"
)
HIDDEN_CALLS = (
    "inputs and outputs of the models: what calls them is compiled by torch.compile; compile the model alone, "
    "model.compile(), to see its inputs and outputs"
)
OWN_UPDATES = (
    "steps of an optimizer: the program changes its weights itself; a step ends when the next one begins, and rules "
    "inside the training cannot veto it"
)
