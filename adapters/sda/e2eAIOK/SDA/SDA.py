"""The Smart Democratization Advisor: trains a model once or searches its parameters, and says whether the target was
met."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from trainwarden.tuning import Study, TrialRecord

from . import hydro_model as hydro
from . import settings as keys
from . import wishes as words
from .advice import advice, against_target, what_mattered
from .errors import SDAError, TargetMissed
from .hydro_model import HydroModel
from .model_info import ModelInfo, read_info
from .models import Model, make_model
from .say import say, warn
from .search import Places, Search, open_study
from .wishes import TIME, Wishes

EXIT_FINE, EXIT_FAILED, EXIT_TARGET_MISSED = 0, 1, 5  # as those of `trainwarden tune`


class LaunchResult(tuple[str, dict[str, float]]):
    """What launch() returns: (folder of the best trial, its metrics), with

    target_met: whether a trial meets the target; None: no target was set.
    exit_code: 0; 5 when the target is missed; 1 when no trial is complete.
    """

    target_met: Optional[bool]
    exit_code: int

    def __new__(cls, path: str, metrics: dict[str, float], target_met: Optional[bool], exit_code: int) -> LaunchResult:
        self = super().__new__(cls, (path, metrics))
        self.target_met, self.exit_code = target_met, exit_code
        return self


class SDA:
    """Advises on one model.

    Attributes:
        exit_code: of the last launch(), for sys.exit(): 0, 5 when the target was missed, 1 when no trial is complete.
    """

    def __init__(
        self,
        model: str = "",
        data_loader: Any = None,
        settings: Optional[Mapping[str, Any]] = None,
        hydro_model: Optional[HydroModel] = None,
        custom_result_path: Optional[str] = None,
    ):
        """`model` is "BERT" or a name for what register() tells. `settings` has the keys of
        docs/guide/coming-from-sda.md. A `hydro_model` has values that a training without a search takes.
        `data_loader` is kept as `data_loader`, and not used: a command reads its own data. Results lie in
        `custom_result_path`: the settings', else the working folder.

        SDAError for a key that is not known.
        """
        self.data_loader = data_loader
        said = dict(settings or {})
        conf = said.pop("conf", None)
        content = words.read_file(str(conf)) if isinstance(conf, (str, Path)) else dict(conf or {})
        self._listed_parameters = content.pop(words.SEED_PARAMETERS, None) or content.pop("parameters", None) or []
        self.settings = keys.checked({**said, **content})
        self.model_name = str(model or self.settings.get("model_name") or "").lower()
        if not self.model_name:
            raise SDAError('expected a model: SDA(model="BERT") or a name of your own')
        self._folder = Path(custom_result_path or self.settings.get("custom_result_path") or ".")
        self._info: Optional[ModelInfo] = None
        self._given = dict(hydro_model.model_parameters) if hydro_model else {}
        self._hydro_model = hydro_model or hydro.load(self._folder, self.model_name) or HydroModel(self.model_name)
        self.exit_code = EXIT_FINE
        self._greet()

    @staticmethod
    def get_model_zoo_list() -> list[str]:
        """The models that need no register()."""
        return ["bert"]

    def register(self, info: Mapping[str, Any]) -> None:
        """Tells by what command the model is trained, and what is searched. SDAError for a key that is not known.

        Keys: execute_cmd (a text of words, or a list; it gets --NAME VALUE for each parameter, and --saved_path
        FOLDER), hyper_parameters (values by name), hpo_config (a list as SigOpt's, of names with "LOW~HIGH", or of
        names alone: flags), score_metrics (a list of (name, objective)), tune_training_time, result_file_name
        (without it the metrics are read from what is printed), observation_budget, experiment_name.
        """
        self._info = read_info(info)
        if "experiment_name" in info:
            warn("register: experiment_name has no effect: a study is named after its model")

    def launch(self, *, strict: bool = False) -> LaunchResult:
        """Trains: with enable_sigopt until a trial meets the target or `observation_budget` were made, else once.

        A launch that is started again goes on with the same study. Ctrl-C ends the training, whose trial is failed,
        and is raised. With `strict`, TargetMissed is raised when no trial meets the target. SDAError for what is
        wrong with settings.
        """
        model = make_model(self.model_name, self._info, self.settings)
        for sentence in keys.of_no_model(self.settings) if self._info else []:
            warn(sentence)
        say("Model Advisor created")
        searches = bool(self.settings.get("enable_sigopt", False))
        wishes = self._wishes(model, searches)
        values = {**model.defaults, **self._given}
        if searches:
            fixed = {name: value for name, value in values.items() if name not in wishes.parameters}
            first = {name: words.with_first(space, values[name]) if name in values else space
                     for name, space in wishes.parameters.items()}  # fmt: skip
            wishes.parameters = first
        else:
            fixed, wishes.parameters = {}, words.fixed(values)
        say("model parameter initialized")
        self._train(model, wishes, fixed, searches)
        met, is_there = self._hydro_model.target_met, bool(self._hydro_model.model)
        self.exit_code = EXIT_FAILED if not is_there else EXIT_TARGET_MISSED if met is False else EXIT_FINE
        if strict and met is False:
            raise TargetMissed(self._hydro_model.verdict)
        return LaunchResult(self._hydro_model.model, self._hydro_model.metrics, met, self.exit_code)

    def snapshot(self) -> HydroModel:
        """What came of the model so far."""
        return self._hydro_model

    def _greet(self) -> None:
        for sentence in keys.without_effect(self.settings):
            warn(sentence)
        if self._hydro_model.study:
            self._hydro_model.explain()
            say("Above info is history record of this model", "E2EAIOK")
        say("### Ready to submit current task  ###")

    def _train(self, model: Model, wishes: Wishes, fixed: dict[str, Any], searches: bool) -> None:
        results = Path(self.settings.get("save_path") or self._folder / "result")
        places = Places(studies=self._folder.resolve() / "studies", results=results.resolve())
        study = open_study(self.model_name, model, wishes, places)
        search = Search(study, model, wishes, places, fixed)
        if before := len(study.trials):
            say(f"study {study.name} has {before} trials of earlier launches, which count")
        search.take_over()
        if not searches:  # the same values may be trained again
            study.enqueue({name: space["choices"][0] for name, space in study.spec["parameters"].items()})
        say("start to launch training")
        try:
            search.run(self._budget() if searches else 1, lambda: self._note(study, search, wishes, places, searches))
        finally:
            self._note(study, search, wishes, places, searches)
        say("training script completed")

    def _budget(self) -> int:
        of_info = self._info.budget if self._info else None
        return int(self.settings.get("observation_budget") or of_info or 1)

    def _wishes(self, model: Model, searches: bool) -> Wishes:
        wishes = Wishes(metrics=self._metrics(model))
        if searches:
            of_info = self._info.hpo_config if self._info else []
            of_settings = (self.settings.get("model_parameter") or {}).get("parameters")
            parameters = of_info or self._listed_parameters or of_settings or model.hpo_config
            wishes.parameters, wishes.flags = words.searched(parameters)
            if not wishes.parameters:
                raise SDAError('nothing is to be searched: expected hpo_config of register(), or parameters in "conf"')
        return wishes

    def _listed_metrics(self) -> list[Any]:
        of_model = (self.settings.get("model_parameter") or {}).get("metrics")
        return list(self.settings.get("metrics") or of_model or [])

    def _metrics(self, model: Model) -> dict[str, dict[str, Any]]:
        """What the settings name comes first and adds its threshold; the time is stored where nobody asks for more."""
        of_info = self._info.score_metrics if self._info else []
        listed = words.measured(of_info or self._listed_metrics())
        named = words.settings_metric(self.settings, None if listed else model.metric)
        for name, metric in named.items():
            if listed and name not in listed:
                raise SDAError(f'settings: metric: "{name}" is none of the metrics {", ".join(listed)}')
            if name in listed and "metric_objective" not in self.settings:
                del metric["goal"]
            listed[name] = {**listed.get(name, {}), **metric}
        if not named and self.settings.get("metric_threshold") is not None:
            listed = self._with_threshold(listed)
        if not listed:
            raise SDAError('expected what is measured: score_metrics of register(), or settings["metric"]')
        return {**listed, TIME: self._time(listed)}

    def _with_threshold(self, listed: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        names = [name for name in listed if name != TIME]
        if len(names) != 1:
            raise SDAError('settings: metric_threshold: expected settings["metric"] too, the name of its metric')
        return {**listed, names[0]: {**listed[names[0]], "threshold": self.settings["metric_threshold"]}}

    def _time(self, listed: dict[str, dict[str, Any]]) -> dict[str, Any]:
        limit = self.settings.get("training_time_threshold")
        tunes = self._info is not None and self._info.tunes_time
        default = {"goal": "minimize", "strategy": "optimize" if tunes else "store" if limit is None else "constrain"}
        time = listed.get(TIME, default)
        return time if limit is None else {**time, "threshold": limit}

    def _note(self, study: Study, search: Search, wishes: Wishes, places: Places, searches: bool) -> None:
        outcome, trials = study.outcome, study.trials
        best = _best_of(study, search, wishes)
        main = wishes.main_metric
        importance = study.importance(main if main in study.objectives else None) if searches else None
        self._hydro_model = HydroModel(
            model_type=self.model_name,
            model=str(places.of_trial(study, best.number)) if best else "",
            metrics=_main_first(best.metrics, wishes.main_metric) if best else {},
            model_parameters=dict(best.params) if best else {},
            study=study.name,
            studies=str(places.studies),
            verdict=outcome.sentence,
            target_met=outcome.is_met if outcome.has_target else None,
            against_target=against_target(best, study.spec["metrics"]),
            what_mattered=what_mattered(importance),
            advice=advice(outcome, trials, best, study.spec["parameters"], searches, importance),
            model_params=self.settings,
            sigopt_experiment_id=study.name if searches else None,
        )
        self._hydro_model.save(self._folder)


def _best_of(study: Study, search: Search, wishes: Wishes) -> Optional[TrialRecord]:
    """The program's best; of several objectives the one of the front that meets the target, or is nearest by the main
    metric."""
    front = study.front
    if len(study.objectives) == 1 or not front:
        best = study.best
        if best is None and study.outcome.best is not None:  # it misses a constraint, and the verdict says so
            best = study.trials[study.outcome.best]
        return best
    main = wishes.main_metric
    sign = -1 if wishes.metrics[main]["goal"] == "minimize" else 1
    return max(front, key=lambda trial: (search.meets_target(trial), sign * trial.metrics[main]))


def _main_first(metrics: dict[str, float], main: str) -> dict[str, float]:
    return {**({main: metrics[main]} if main in metrics else {}), **metrics}
