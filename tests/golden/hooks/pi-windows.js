// conversation-esaa: made by `conversation-esaa enable-hooks --agent pi`, removed by `disable-hooks`.
// It tells conversation-esaa that something was said, and keeps quiet when conversation-esaa is gone.
import { spawn } from "node:child_process";

const CALL = ["C:\\My Proj (x86) & é'quote\\Scripts\\python.exe", "-I", "-S", "C:\\My Proj (x86) & é'quote\\Lib\\site-packages\\conversation_esaa\\hooks\\entry.py", "pi"];
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

export default function (pi) {
  let text;
  const said = (context) => ({ cwd: context?.cwd ?? process.cwd() });
  for (const event of ["session_start", "agent_end", "session_compact", "session_shutdown"]) {
    pi.on(event, async (_, context) => {
      if (event === "session_start" || event === "session_compact") text = undefined;
      await tell(event, said(context));
    });
  }
  pi.on("before_agent_start", async (event, context) => {
    if (!INJECT) {
      await tell("before_agent_start", said(context));
      return;
    }
    text ??= await handoff("before_agent_start", said(context));
    if (text) return { systemPrompt: `${event.systemPrompt}\n\n${text}` };
  });
}
