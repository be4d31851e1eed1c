// conversation-esaa: made by `conversation-esaa enable-hooks --agent opencode`, removed by `disable-hooks`.
// It tells conversation-esaa that something was said, and keeps quiet when conversation-esaa is gone.
import { spawn } from "node:child_process";

const CALL = ["/opt/My Proj (x86) & é'quote/bin/python", "-I", "-S", "/opt/My Proj (x86) & é'quote/lib/python3.13/site-packages/conversation_esaa/hooks/entry.py", "opencode"];
const INJECT = true;

function tell(event, payload, ...more) {
  return new Promise((resolve) => {
    let text = "";
    try {
      const child = spawn(CALL[0], [...CALL.slice(1), event, ...more], {
        stdio: ["pipe", "pipe", "ignore"],
        timeout: 10000,
        windowsHide: true,
      });
      child.on("error", () => resolve(""));
      child.on("close", () => resolve(text));
      child.stdin.on("error", () => {});
      child.stdout.on("data", (part) => { text += part; });
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }));
    } catch {
      resolve("");
    }
  });
}

async function handoff(event, payload) {
  try {
    return JSON.parse(await tell(event, payload, "--inject")).additionalContext || "";
  } catch {
    return "";
  }
}

export const ConversationEsaa = async ({ directory }) => {
  const handoffs = new Map();
  const said = (session) => ({ session_id: session, cwd: directory });
  const told = {
    "session.created": (properties) => properties.info?.id,
    "session.idle": (properties) => properties.sessionID,
    "session.compacted": (properties) => properties.sessionID,
  };
  return {
    event: async ({ event }) => {
      const session = told[event.type]?.(event.properties ?? {});
      if (!session) return;
      if (event.type === "session.compacted") handoffs.delete(session);
      await tell(event.type, said(session));
    },
    "chat.message": async ({ sessionID }) => {
      await tell("chat.message", said(sessionID));
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!INJECT || /^You are a title generator/.test(output.system[0] ?? "")) return;
      if (!handoffs.has(sessionID)) {
        handoffs.set(sessionID, await handoff("experimental.chat.system.transform", said(sessionID)));
      }
      const text = handoffs.get(sessionID);
      if (text) output.system.push(text);
    },
  };
};
