"""What the module of every agent is held to, as a suite to run against one: for whoever writes one.

    from conversation_esaa.testing import AgentContract
    import my_package.my_agent as my_agent

    class TestMyAgent(AgentContract):
        module = my_agent
        override = ("MY_AGENT_HOME", ".my-agent")

        def sample(self):
            return [{"type": "session", ...}, ...]

Needs pytest and Hypothesis: `pip install 'conversation-esaa[testing]'`.
"""

from conversation_esaa.testing.agent_contract import AgentContract

__all__ = ["AgentContract"]
