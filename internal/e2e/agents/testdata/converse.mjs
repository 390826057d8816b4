// converse.mjs SDK CLAUDE PLAN holds a conversation with claude by its Agent SDK and prints what the SDK hands out, a line
// of JSON each. PLAN is a list of steps: {"models": true} asks for the models, {"say": "…"} says something and waits for the
// result, {"say": "…", "interrupt": FILE} interrupts it when there is such a file, {"idle": ms} does nothing, {"resume": true} ends the
// process and goes on with the session in another, {"say": "…", "abort": "…"} gives all up at a message of that subtype.
// {"use": {…}} as the first step asks for more: "partial" messages, "hooks", an "mcp" server in this process.
import { existsSync } from "node:fs";

const [sdk, claude, plan] = process.argv.slice(2);
process.on("uncaughtException", (e) => {
  console.error(e.message); // the SDK is one long line, which node would show
  process.exitCode = 1;
});
const { query, tool, createSdkMcpServer } = await import(sdk);

const print = (what) => process.stdout.write(JSON.stringify(what) + "\n");
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const there = async (file) => {
  while (!existsSync(file)) await sleep(20);
};
const steps = JSON.parse(plan);
const use = steps[0]?.use ? steps.shift().use : {};
const gaveUp = new AbortController();
let answered = () => {};
let conversation;
let session;
let aborts;

async function* prompts() {
  await undefined; // query asks for the first before it returns
  while (steps.length > 0) {
    const step = steps.shift();
    if (step.resume) return;
    if (step.models) {
      const models = await conversation.supportedModels();
      print({ type: "models", some: models.length > 0 });
    }
    if (step.idle) await sleep(step.idle);
    aborts = step.abort;
    if (step.say) {
      const last = new Promise((done) => (answered = done));
      yield { type: "user", message: { role: "user", content: step.say }, parent_tool_use_id: null };
      if (step.interrupt) there(step.interrupt).then(() => conversation.interrupt()).then(() => print({ type: "interrupted" }));
      await last;
    }
  }
}

const hook = async (input) => {
  print({ type: "hook", event: input.hook_event_name, tool: input.tool_name });
  return {};
};

const options = () => ({
  pathToClaudeCodeExecutable: claude,
  allowedTools: use.mcp ? ["mcp__lab__echo"] : [],
  includePartialMessages: use.partial,
  abortController: gaveUp,
  resume: session,
  hooks: use.hooks && { PreToolUse: [{ hooks: [hook] }], PostToolUse: [{ hooks: [hook] }], UserPromptSubmit: [{ hooks: [hook] }], Stop: [{ hooks: [hook] }] },
  mcpServers: use.mcp && {
    lab: createSdkMcpServer({
      name: "lab",
      tools: [tool("echo", "says it again", {}, async () => {
        print({ type: "called" });
        await sleep(use.slow ?? 0);
        return { content: [{ type: "text", text: "echoed" }] };
      })],
    }),
  },
  canUseTool: async (name, input) => {
    print({ type: "asked", name });
    await sleep(use.slow ?? 3000);
    return { behavior: "allow", updatedInput: input };
  },
  stderr: (text) => process.stderr.write(text),
});

do {
  conversation = query({ prompt: prompts(), options: options() });
  try {
    for await (const message of conversation) {
      print(message);
      session = message.session_id ?? session;
      if (message.type === "result") answered();
      if (aborts && message.subtype === aborts) gaveUp.abort();
    }
  } catch (e) {
    print({ type: "thrown", name: e.name, message: e.message });
  }
} while (steps.length > 0);
