"""The rule of my_rule.py under Trainwarden's engine, beside one that is built in."""

import sys

import trainwarden
from my_rule import GradientsAreTiny
from smdebug.trials import create_trial

rules = [GradientsAreTiny(create_trial(sys.argv[1])), "ExplodingTensor"]
report = trainwarden.rules.run(sys.argv[1], rules, on_fire="stop")
for status in report.statuses:
    print(status.rule_id, status.status.value)
