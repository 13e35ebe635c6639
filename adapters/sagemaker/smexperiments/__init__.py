"""SageMaker Experiments: experiments, trials and their components, kept by `trainwarden experiment`.

    from smexperiments.experiment import Experiment
    from smexperiments.tracker import Tracker
    from smexperiments.trial import Trial

    experiment = Experiment.create(experiment_name="digits")
    trial = Trial.create(experiment_name="digits", trial_name="cnn")
    with Tracker.create(display_name="prepare") as tracker:
        tracker.log_parameters({"rows": 60000})
    trial.add_trial_component(tracker.trial_component)

They lie in the folder of TRAINWARDEN_EXPERIMENTS. Nothing is thrown away but by delete(); what is written once can only
be added to. docs/guide/coming-from-sagemaker.md says what is different.
"""
