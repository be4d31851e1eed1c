"""A stand-in for the services of the model vendors, so that real agents can be run without an account.

script.py      what is said: the prompts of a test and what the model answers to them
server.py      one HTTP server on the loopback interface; keeps every request that came in
anthropic.py   Messages          \\
chat.py        Chat Completions   | how a protocol puts a question,
responses.py   Responses          | and how it wants the answer
gemini.py      generateContent   /
"""
