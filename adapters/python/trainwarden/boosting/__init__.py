"""What the adapters of boosted trees share: XGBoost and LightGBM tell what a training is (training.py), and these follow it."""
