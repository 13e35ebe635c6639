"""Models: which models the program has, what they are called, and which optimizers train them."""

from __future__ import annotations

import weakref
from typing import Iterator, Optional

import torch
from torch.optim import Optimizer

from . import interception, optimizer_calls
from .holders import Holders
from .identity import IdentitySet
from .module_tree import is_training, modules_of, parameters_of_module
from .roots import Living, Model, is_trained, parameters_of, prefix_for


class KnownModel(Model):
    """A model of the program."""

    trained_by: frozenset[int] = frozenset()  # ids of optimizers
    trains_in_eval = False  # it was trained although it was in eval mode
    # Of one that nobody trains, as averages.py has it:
    called_after = 0  # train steps, when it was called last
    is_teacher = False  # its calls are part of train steps
    is_average = False  # it is evaluated in place of the one that is trained


class Models:
    """The models that were found, in the order of their finding, but for those that other threads train. Keeps none of
    them alive."""

    def __init__(self) -> None:
        self._models: list[KnownModel] = []
        self._by_entry: dict[int, KnownModel] = {}
        self._watched: set[int] = set()  # ids of entries
        self.any_trained = False  # an optimizer was there
        self._optimizers = IdentitySet()
        self._holders = Holders()
        self._have_moved = False  # an optimizer went to another thread since they were looked for

    def __iter__(self) -> Iterator[KnownModel]:
        return iter(self._models)

    def look(self, called: Optional[torch.nn.Module] = None) -> list[Optimizer]:
        """Looks for models and optimizers among all living objects; gives the optimizers that are new. `called`: the
        module with whose call this thread begins to train."""
        living = Living()
        stepping = [each for each in living.optimizers if optimizer_calls.sees_steps_of(each)]
        whole = [each for each in stepping if hasattr(each, "param_groups")]
        self._take_those_of(called, whole)
        optimizers = {id(each): each for each in whole if self._holders.is_here(each)}
        others = [each for each in whole if id(each) not in optimizers]
        new = [each for each in optimizers.values() if each not in self._optimizers]
        self._optimizers = IdentitySet([*self.optimizers(), *new])
        self._have_moved = False
        trained = parameters_of(optimizers.values())
        elsewhere = parameters_of(others) - trained
        self._keep([model for model in self._models if not _is_elsewhere(model.module, elsewhere, trained)])
        roots = [root for root in living.roots() if not _is_elsewhere(root[0], elsewhere, trained)]
        self._add_new([root for root in roots if self.model_of(root[0]) is None], trained)
        for module, wrappers in roots:
            for entry in (module, *wrappers):
                self._watch(self._by_entry[id(module)], entry)
        self._match(list(optimizers.values()))
        self.any_trained = self.any_trained or bool(optimizers)
        return new

    def _take_those_of(self, called: Optional[torch.nn.Module], optimizers: list[Optimizer]) -> None:
        """The main thread may have made the optimizer of the module that this thread calls."""
        for each in self._holders.takeable(optimizers) if called is not None else ():
            if is_trained(called, parameters_of([each])):
                self._holders.used(each)

    def _keep(self, models: list[KnownModel]) -> None:
        """These and no others."""
        for model in self._models:
            if all(each is not model for each in models):
                for entry in model.entries:
                    self._ignore(id(entry))
        self._models = models

    def _add_new(self, roots: list[tuple[torch.nn.Module, list[torch.nn.Module]]], trained: set[int]) -> None:
        """Names new models. The only one, or the only one that is trained, has no prefix."""
        taken = {model.prefix for model in self._models}
        are_trained = [root for root in roots if is_trained(root[0], trained)]
        plain = are_trained if are_trained else roots
        for module, wrappers in roots:
            is_the_one = len(plain) == 1 and plain[0][0] is module and not self._models
            prefix = "" if is_the_one else prefix_for(module, wrappers, taken)
            taken.add(prefix)
            self._by_entry[id(module)] = KnownModel(module, prefix)
        self._models += [self._by_entry[id(module)] for module, _ in roots]

    def _watch(self, model: KnownModel, entry: torch.nn.Module) -> None:
        """Calls of the model or its wrapper are reported, as long as it exists."""
        if id(entry) in self._watched:
            return
        model.add_entry(entry)
        self._by_entry[id(entry)] = model
        self._watched.add(id(entry))
        interception.watch_calls(entry)
        weakref.finalize(entry, self._ignore, id(entry)).atexit = False

    def _ignore(self, entry_id: int) -> None:
        self._by_entry.pop(entry_id, None)
        self._watched.discard(entry_id)
        interception.ignore_calls(entry_id)

    def _match(self, optimizers: list[Optimizer]) -> None:
        for model in self._models:
            module = model.module
            if module is None:
                continue
            own = {id(parameter) for parameter in parameters_of_module(module)}
            # Also those that are gone: a model that was trained once is one that is evaluated now.
            model.trained_by |= {id(each) for each in optimizers if own & parameters_of([each])}

    def optimizers(self) -> list[Optimizer]:
        """Those with which this thread trains, or with which none does yet."""
        return [each for each in self._optimizers if self._holders.is_here(each)]

    def knows(self, optimizer: Optimizer) -> bool:
        """Is it known, and are all that are known still this thread's?"""
        return optimizer in self._optimizers and not self._have_moved

    def made(self, optimizer: Optimizer) -> None:
        self._holders.made(optimizer)

    def used(self, optimizer: Optimizer) -> None:
        """This thread steps with it."""
        self._have_moved = self._holders.used(optimizer) or self._have_moved

    def adopt(self, module: torch.nn.Module) -> bool:
        """Is it a model, a wrapper or a part of one? Some are used through a part, which counts as the model then."""
        if id(module) in self._by_entry:
            return True
        for model in self._models:
            root = model.module
            if root is not None and any(part is module for part in modules_of(root)):
                self._watch(model, module)
                return True
        return False

    def model_of(self, entry: torch.nn.Module) -> Optional[KnownModel]:
        """The model, if this is one or a wrapper of one."""
        return self._by_entry.get(id(entry))

    def note_training_in_eval(self, optimizer: Optimizer) -> None:
        """Its models are trained; those that are in eval mode meanwhile are so on purpose."""
        for model in self._models:
            module = model.module
            if module is not None and id(optimizer) in model.trained_by and not is_training(module):
                model.trains_in_eval = True


def _is_elsewhere(module: Optional[torch.nn.Module], elsewhere: set[int], trained: set[int]) -> bool:
    """Is it trained by other threads alone, or gone? By the ids of parameters that others train, and that this one does."""
    if module is None:
        return True
    return bool(elsewhere) and is_trained(module, elsewhere) and not is_trained(module, trained)
