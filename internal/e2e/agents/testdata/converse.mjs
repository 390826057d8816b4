// converse.mjs SDK CLAUDE PLAN holds a conversation with claude by its Agent SDK and prints what the SDK hands out, a line
// of JSON each. PLAN is a list of steps: {"models": true} asks for the models, {"say": "…"} says something and waits for the
// result, {"idle": ms} does nothing.
const [sdk, claude, plan] = process.argv.slice(2);
process.on("uncaughtException", (e) => {
  console.error(e.message); // the SDK is one long line, which node would show
  process.exitCode = 1;
});
const { query } = await import(sdk);

const print = (what) => process.stdout.write(JSON.stringify(what) + "\n");
let answered = () => {};
let last = Promise.resolve();
let conversation;

async function* prompts() {
  await undefined; // query asks for the first before it returns
  for (const step of JSON.parse(plan)) {
    if (step.models) {
      const models = await conversation.supportedModels();
      print({ type: "models", some: models.length > 0 });
    }
    if (step.idle) await new Promise((done) => setTimeout(done, step.idle));
    if (step.say) {
      last = new Promise((done) => (answered = done));
      yield { type: "user", message: { role: "user", content: step.say }, parent_tool_use_id: null };
      await last;
    }
  }
}

conversation = query({
  prompt: prompts(),
  options: {
    pathToClaudeCodeExecutable: claude,
    allowedTools: [],
    canUseTool: async (name, input) => {
      print({ type: "asked", name });
      await new Promise((done) => setTimeout(done, 3000));
      return { behavior: "allow", updatedInput: input };
    },
    stderr: (text) => process.stderr.write(text),
  },
});
for await (const message of conversation) {
  print(message);
  if (message.type === "result") answered();
}
