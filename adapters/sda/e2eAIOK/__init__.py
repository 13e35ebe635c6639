"""Programs that were written for Intel's Smart Democratization Advisor, with searches that are studies on one's own
machine.

    from e2eAIOK.SDA.SDA import SDA

    sda = SDA(model="digits", settings={"enable_sigopt": True, "observation_budget": 20})
    sda.register({
        "execute_cmd": "python3 train.py",
        "score_metrics": [("accuracy", "maximize")],
        "hpo_config": [{"name": "rate", "bounds": {"min": 1e-5, "max": 0.1}, "type": "double"}],
    })
    sda.launch()
    sda.snapshot().explain()

Of the kit, the SDA is here. docs/guide/coming-from-sda.md has what works, what is different and why.
"""
