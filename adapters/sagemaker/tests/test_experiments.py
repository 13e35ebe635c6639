"""smexperiments, ExperimentAnalytics and lineage, kept by the program as it is."""

from __future__ import annotations

import datetime
import inspect
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trainwarden")

import sagemaker
from sagemaker.analytics import EXPERIMENT_ANALYTICS, ExperimentAnalytics
from sagemaker.exceptions import ClientError, NotHere
from sagemaker.lineage.action import Action
from sagemaker.lineage.artifact import Artifact
from sagemaker.lineage.association import Association
from sagemaker.lineage.context import Context
from sagemaker.lineage.visualizer import SHOW, LineageTableVisualizer
from smexperiments.experiment import Experiment
from smexperiments.search_expression import BooleanOperator, Filter, NestedFilter, Operator, SearchExpression
from smexperiments.tracker import Tracker
from smexperiments.trial import Trial
from smexperiments.trial_component import TrialComponent, TrialComponentArtifact


@pytest.fixture
def digits() -> Trial:
    """A trial with a component, `prepare`, that has one of everything."""
    Experiment.create(experiment_name="digits")
    trial = Trial.create("digits", "cnn")
    Path("train.csv").write_text("1,2\n")
    with Tracker.create(display_name="prepare") as tracker:
        tracker.log_parameters({"rows": 60000, "split": "0.9"})
        tracker.log_metric("seconds", 3.0)
        tracker.log_metric("seconds", 1.0)
        tracker.log_output("train", "train.csv", "text/csv")
    trial.add_trial_component(tracker.trial_component)
    return trial


def names(entities: Any) -> list[str]:
    return [str(each).strip("<>").split()[-1] for each in entities]


def test_what_is_logged_is_there(digits: Trial) -> None:
    (component,) = digits.list_trial_components()
    assert component.display_name == "prepare"
    assert component.parameters == {"rows": 60000, "split": "0.9"}, "a text stays a text"
    (metric,) = component.metrics
    assert (metric.min, metric.max, metric.avg, metric.last, metric.count) == (1.0, 3.0, 2.0, 1.0, 2)
    artifact = component.output_artifacts["train"]
    assert artifact.value == str(Path("train.csv").absolute()) and artifact.media_type == "text/csv"
    assert component.status.primary_status == "Completed"
    assert component.start_time is not None and component.end_time is not None
    assert component.creation_time <= component.end_time
    assert list(component.list_trials()) == ["cnn"]


def test_experiments_are_made_loaded_listed_and_deleted() -> None:
    first = Experiment.create("first", description="why", tags=[{"Key": "a", "Value": "b"}], display_name="The first")
    assert (first.description, first.display_name, first.tags) == ("why", "The first", [{"Key": "a", "Value": "b"}])
    second = Experiment.create()
    assert second.experiment_name.startswith("experiment-2")
    assert names(Experiment.list()) == [second.experiment_name, "first"]
    assert names(Experiment.list(sort_by="Name", sort_order="Descending")) == ["first", second.experiment_name]
    assert names(Experiment.list(sort_order="Ascending"))[0] == "first"
    assert names(Experiment.list(created_after=first.creation_time)) == [second.experiment_name]
    assert names(Experiment.list(created_before=second.creation_time)) == ["first"]
    with pytest.raises(ValueError, match="sort_by"):
        Experiment.list(sort_by="Colour")
    with pytest.raises(ClientError, match="ValidationException.*already"):
        Experiment.create("first")
    with pytest.raises(ClientError, match="ResourceNotFound"):
        Experiment.load("third")
    with pytest.raises(ClientError, match="no name"):
        Experiment.create("--help")

    trial = first.create_trial(trial_name="a")
    assert first.create_trial(trial_name_prefix="mine").trial_name.startswith("mine-2")
    assert {each.experiment_name for each in first.list_trials()} == {"first"}
    assert Trial.load("a").experiment_name == trial.experiment_name
    assert names(Trial.list("first", created_before=trial.creation_time)) == []
    with pytest.raises(ClientError, match="ResourceNotFound"):
        Trial.create("third", "b")
    with pytest.raises(ClientError, match='belongs to the experiment "first"'):
        Trial.create(second.experiment_name, "a")
    trial.delete()
    first.delete()
    assert names(Experiment.list()) == [second.experiment_name]
    assert [each.trial_name for each in Trial.list()] == []


def test_what_components_belong_to_is_deleted_only_on_demand(digits: Trial) -> None:
    experiment = Experiment.load("digits")
    (component,) = digits.list_trial_components()
    assert names(Trial.list(trial_component_name=component.trial_component_name)) == ["cnn"]
    for delete in (experiment.delete, digits.delete, component.delete):
        with pytest.raises(ClientError, match="ValidationException"):
            delete()
    with pytest.raises(ValueError, match="--force"):
        experiment.delete_all("yes")
    component.delete(force_disassociate=True)
    digits.delete_all("--force")
    experiment.delete_all("--force")
    assert names(TrialComponent.list()) == names(Experiment.list()) == []


def test_a_component_is_changed_by_save(digits: Trial) -> None:
    component = TrialComponent.create("evaluate", display_name="Evaluation", tags=[{"Key": "a", "Value": "b"}])
    assert component.tags == [{"Key": "a", "Value": "b"}]
    component.parameters["threshold"] = 0.5
    component.input_artifacts["data"] = TrialComponentArtifact("s3://mine/data", "text/csv")
    component.output_artifacts["report"] = TrialComponentArtifact("report.html")
    component.status.primary_status, component.status.message = "Failed", "why"
    component.display_name = "Another"
    component.save()
    again = TrialComponent.load("evaluate")
    assert again.parameters == {"threshold": 0.5} and again.display_name == "Another"
    assert again.input_artifacts["data"] == TrialComponentArtifact("s3://mine/data", "text/csv")
    assert (again.status.primary_status, again.status.message) == ("Failed", "why")
    with pytest.raises(ClientError, match="already"):
        TrialComponent.create("evaluate")
    digits.add_trial_component("evaluate")
    with pytest.raises(ClientError, match="ResourceNotFound"):
        digits.add_trial_component("nobody")
    trial = Trial.create("digits", "more", trial_components=["evaluate"])
    assert names(trial.list_trial_components()) == ["evaluate"]


def test_components_are_listed_and_searched(digits: Trial) -> None:
    TrialComponent.create("other")
    assert names(TrialComponent.list(trial_name="cnn")) == names(TrialComponent.list(experiment_name="digits"))
    assert "other" not in names(TrialComponent.list(experiment_name="digits"))
    assert names(TrialComponent.list(source_arn="/nowhere")) == []
    assert names(TrialComponent.list(sort_by="Name", sort_order="Descending"))[0] == "other"

    fast = Filter("Metrics.seconds.Min", Operator.LESS_THAN, "2")
    few = Filter("Parameters.rows", Operator.LESS_THAN, "10")
    trial = NestedFilter("Parents", [Filter("Parents.TrialName", Operator.EQUALS, "cnn")])
    (found,) = TrialComponent.search(SearchExpression(filters=[fast], nested_filters=[trial]))
    assert found.display_name == "prepare"
    assert not list(TrialComponent.search(SearchExpression(filters=[fast, few])))
    either = SearchExpression(filters=[fast, few], boolean_operator=BooleanOperator.OR)
    assert len(list(TrialComponent.search(SearchExpression(sub_expressions=[either])))) == 1
    assert len(list(TrialComponent.search(max_results=1))) == 1
    first = names(TrialComponent.search(sort_by="Name", sort_order="Ascending"))
    assert first == names(TrialComponent.search(sort_by="Name", sort_order="Descending"))[::-1]
    with pytest.raises(ValueError, match="found none"):
        SearchExpression()
    with pytest.raises(ClientError, match="ValidationException"):
        TrialComponent.search(SearchExpression(filters=[Filter("Colour", Operator.EQUALS, "red")]))


def test_values_that_come_late_are_not_the_last(digits: Trial) -> None:
    tracker = Tracker.create()
    for number, value in ((1, 0.1), (3, 0.3), (2, 0.2)):
        tracker.log_metric("loss", value, iteration_number=number)
    tracker.log_metric("old", 5.0, timestamp=datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc))
    tracker.log_metric("older", 5.0, timestamp=0.5)
    metrics = {metric.metric_name: metric for metric in tracker.trial_component.metrics}
    assert (metrics["loss"].last, metrics["loss"].count) == (0.3, 3)
    assert metrics["old"].timestamp.year == 2001 and metrics["older"].timestamp.year == 1970
    tracker.close()


def test_artifacts_are_copied_into_the_bucket(tmp_path: Path) -> None:
    Path("plots").mkdir()
    for name in ("a.png", "b.png"):
        Path("plots", name).write_text(name)
    with Tracker.create(artifact_bucket="mine", artifact_prefix="x/y") as tracker:
        tracker.log_artifact("plots/a.png", name="plot", media_type="image/png")
        tracker.log_artifacts("plots")
    component = tracker.trial_component
    place = tmp_path / "buckets" / "mine" / "x" / "y" / component.trial_component_name
    assert sorted(path.name for path in place.iterdir()) == ["a.png", "b.png"]
    address = f"s3://mine/x/y/{component.trial_component_name}/a.png"
    assert component.output_artifacts["plot"] == TrialComponentArtifact(address, "image/png")
    assert set(component.output_artifacts) == {"plot", "a.png", "b.png"}
    with Tracker.load(component.trial_component_name, artifact_bucket="other", artifact_prefix="") as later:
        later.log_artifact("plots/a.png")
    assert (tmp_path / "buckets" / "other" / component.trial_component_name / "a.png").exists()


def test_a_tracker_is_that_of_a_job_or_of_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="trial_component_name"):
        Tracker.load()
    TrialComponent.create("bert-7-aws-training-job")
    with Tracker.load(training_job_name="bert-7") as tracker:
        tracker.log_parameter("a", 1)
    assert tracker.trial_component.parameters == {"a": 1}
    assert tracker.trial_component.status.primary_status is None, "how it stands is the job's to say"
    monkeypatch.setenv("TRAINWARDEN_COMPONENT", "bert-7-aws-training-job")
    with Tracker.load() as own:
        own.log_input("a", "s3://mine/a", "text/csv")
    assert own.trial_component.input_artifacts["a"].media_type == "text/csv"
    with pytest.raises(ClientError, match="ResourceNotFound"):
        Tracker.load(processing_job_name="p")
    with pytest.raises(NotHere, match="log_confusion_matrix"):
        own.log_confusion_matrix([])
    with pytest.raises(RuntimeError), Tracker.create() as failing:
        raise RuntimeError("why")
    status = failing.trial_component.status
    assert (status.primary_status, status.message) == ("Failed", "RuntimeError: why")


def test_a_client_says_whose_experiments(tmp_path: Path) -> None:
    class Session:
        region_name = "local"

        def client(self, name: str) -> Any:
            client = sagemaker.Session().sagemaker_client
            client.experiments = tmp_path / "theirs"
            return client

    theirs = Session().client("sagemaker")
    experiment = Experiment.create("theirs", sagemaker_boto_client=theirs)
    experiment.create_trial("t")
    assert names(Experiment.list()) == [] and names(Experiment.list(sagemaker_boto_client=theirs)) == ["theirs"]
    assert names(Trial.list("theirs", sagemaker_boto_client=theirs)) == ["t"]
    for made in (Tracker.create(boto_session=Session()), Tracker.create(sagemaker_boto_client=theirs)):
        name = made.trial_component.trial_component_name
        Trial.load("t", theirs).add_trial_component(made)
        made.close()
        assert Tracker.load(name, boto_session=Session()).trial_component.trial_component_name == name
    assert len(list(TrialComponent.search(sagemaker_boto_client=theirs))) == 2
    assert TrialComponent.create("c", sagemaker_boto_client=theirs).trial_component_name == "c"
    assert TrialComponent.load("c", theirs).display_name is None and names(TrialComponent.list()) == []

    class Remote:
        class meta:
            endpoint_url = "https://api.sagemaker.eu-central-1.amazonaws.com"

    with pytest.raises(NotHere, match="kept on this machine"):
        Experiment.create("away", sagemaker_boto_client=Remote())


def test_what_cannot_be_is_an_error_that_says_what_to_use(digits: Trial) -> None:
    experiment = Experiment.load("digits")
    (component,) = digits.list_trial_components()
    calls: dict[str, Any] = {
        "TrialComponent.search": Experiment.search,
        "components are what": Trial.search,
        "written once; give": experiment.save,
        "a trial is written": digits.save,
        "what was said stays": lambda: digits.remove_trial_component(component),
        "tags": lambda: Trial.create("digits", "x", tags=[{"Key": "a", "Value": "b"}]),
        "log_output": Artifact.create,
        "Tracker": Action.create,
        "an experiment or a trial": lambda: Context.load("arn"),
        "what was": lambda: Association("a", "b", "Produced").delete(),
    }
    for words, call in calls.items():
        with pytest.raises(NotHere, match=words):
            call()


def test_every_argument_is_walked() -> None:
    """A new one has to be seen at work in the tests above, and to be written here."""
    known = set(
        "action artifact_bucket artifact_prefix boto_session created_after created_before description directory "
        "display_name experiment_name file_path force_disassociate iteration_number max_results media_type metric_name "
        "name parameters processing_job_name sagemaker_boto_client search_expression sort_by sort_order source_arn tags "
        "timestamp training_job_name trial_component trial_component_name trial_components trial_name "
        "trial_name_prefix value".split()
    )
    found = set()
    for owner in (Experiment, Trial, TrialComponent, Tracker):
        for name, method in inspect.getmembers(owner, callable):
            if not name.startswith("_"):
                found |= set(inspect.signature(method).parameters) - {"self", "_", "__"}
    assert found == known


def test_the_frame_of_an_experiment(digits: Trial, tmp_path: Path) -> None:
    whole = ExperimentAnalytics("digits").dataframe()
    assert whole["DisplayName"].tolist() == ["prepare"]
    assert {"rows", "split", "seconds - Min", "train - Value", "Trials", "Experiments"} <= set(whole.columns)
    session = sagemaker.Session()
    narrow = ExperimentAnalytics(
        sagemaker_session=session,
        experiment_name="digits",
        metric_names=["nothing"],
        parameter_names=["rows"],
        input_artifact_names=["none"],
        output_artifact_names=["none"],
    )
    assert [*narrow.dataframe().columns] == ["TrialComponentName", "DisplayName", "rows", "Trials", "Experiments"]
    narrow.export_csv(str(tmp_path / "frame.csv"))
    assert (tmp_path / "frame.csv").read_text().startswith("TrialComponentName,")
    digits.add_trial_component(TrialComponent.create("second"))
    assert len(narrow.dataframe()) == 1 and len(narrow.dataframe(force_refresh=True)) == 2

    ascending = ExperimentAnalytics("digits", sort_by="Name", sort_order="Ascending").dataframe()
    descending = ExperimentAnalytics("digits", sort_by="Name", sort_order="Descending").dataframe()
    order = ascending["TrialComponentName"].tolist()
    assert len(order) == 2 and order == descending["TrialComponentName"].tolist()[::-1]
    fast = SearchExpression(filters=[Filter("Metrics.seconds.Min", Operator.LESS_THAN, "2")])
    for expression in (fast, fast.to_boto()):
        assert len(ExperimentAnalytics(search_expression=expression).dataframe()) == 1
    with pytest.raises(ValueError, match="found neither"):
        ExperimentAnalytics()
    with pytest.raises(ClientError, match="ResourceNotFound"):
        ExperimentAnalytics("nobody").dataframe()
    assert len(EXPERIMENT_ANALYTICS) == 9, "a further keyword has to be seen above"


def test_lineage_of_a_job_and_of_what_belongs_to_it(digits: Trial, script: Path) -> None:
    Path("data.csv").write_text("3,4\n")
    estimator = sagemaker.estimator.Estimator(entry_point="train.py", debugger_hook_config=False)
    config = {"ExperimentName": "digits", "TrialName": "cnn", "TrialComponentDisplayName": "train"}
    estimator.fit({"train": "data.csv"}, logs=False, experiment_config=config, job_name="traced-1")
    visualizer = LineageTableVisualizer(sagemaker.Session())
    deadline = time.monotonic() + 60
    while "DataSet" not in (frame := visualizer.show(training_job_name="traced-1"))["Type"].tolist():
        assert time.monotonic() < deadline, "inputs are hashed beside the job"
        time.sleep(0.1)
    assert [*frame.columns] == ["Name/Source", "Direction", "Type", "Association Type", "Lineage Type"]
    rows = frame[["Direction", "Type", "Association Type", "Lineage Type"]].values.tolist()
    assert ["Input", "DataSet", "ContributedTo", "artifact"] in rows
    assert ["Output", "Model", "Produced", "artifact"] in rows
    assert visualizer.show(trial_component_name="traced-1-aws-training-job").equals(frame)
    assert visualizer.show(processing_job_name="traced-1").equals(frame)

    (component,) = [each for each in digits.list_trial_components() if each.source]
    assert visualizer.show(actions_arn=component.trial_component_arn).equals(frame)
    assert len(visualizer.show(context_arn=digits.trial_arn)) == 2
    data = Artifact.of("data.csv")
    assert Artifact.load(data.artifact_arn).artifact_type == data.artifact_type
    assert set(visualizer.show(artifact_arn=data.artifact_arn)["Lineage Type"]) == {"trial-component"}
    assert component.trial_component_arn in data.downstream()
    model = Artifact.of(str(estimator.model_data))
    assert data.artifact_arn in model.upstream() and model.artifact_arn in data.downstream()

    made = Association.create(data.artifact_arn, model.artifact_arn, "DerivedFrom")
    assert made.association_type == "DerivedFrom"
    (found,) = Association.list(source_arn=data.artifact_arn, association_type="DerivedFrom")
    assert found.destination_arn == model.artifact_arn
    (back,) = Association.list(destination_arn=model.artifact_arn, association_type="DerivedFrom")
    assert back.source_arn == data.artifact_arn

    for wrong in ({}, {"training_job_name": "a", "artifact_arn": "b"}, {"artifact_arn": "s3://mine"}):
        with pytest.raises(ValueError, match="expected"):
            visualizer.show(**wrong)
    for name in ("pipeline_execution_step", "model_package_arn", "endpoint_arn"):
        with pytest.raises(NotHere, match=name):
            visualizer.show(**{name: "x"})
    with pytest.raises(ClientError, match="ResourceNotFound"):
        visualizer.show(training_job_name="nobody")
    assert len(SHOW) == 9
