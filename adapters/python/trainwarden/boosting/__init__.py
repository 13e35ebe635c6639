"""What the adapters of boosted trees share: XGBoost and LightGBM say what a training is (training.py)."""
