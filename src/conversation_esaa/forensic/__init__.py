"""The forensic side: what shows whether log and read models are what they should be.

verify     one run over everything; its answer is a list of findings      findings   codes, severities, mends
lines      what can be said of one line alone          references   names that events use, in log order
store      what is around the log: modes, git, caches, quarantine          read_models   the files made from it
"""
