"""The Smart Democratization Advisor: e2eAIOK.SDA.SDA has its class."""
