// codexsdk.mjs SDK CODEX PLAN works with codex by its SDK and prints what the SDK hands out, a line of JSON each. PLAN is a list of
// steps: {"say": "…"} says something and waits for the end of the turn, {"resume": true} goes on with the thread by its id,
// {"say": "…", "abort": "…"} gives the turn up at an event of that type.
const [sdk, codexPath, plan] = process.argv.slice(2);
const { Codex } = await import(sdk);

const print = (what) => process.stdout.write(JSON.stringify(what) + "\n");
const codex = new Codex({ codexPathOverride: codexPath });
const options = { skipGitRepoCheck: true, sandboxMode: "danger-full-access" };
let thread = codex.startThread(options);

for (const step of JSON.parse(plan)) {
  if (step.resume) thread = codex.resumeThread(thread.id, options);
  if (!step.say) continue;
  const gaveUp = new AbortController();
  try {
    const { events } = await thread.runStreamed(step.say, { signal: gaveUp.signal });
    for await (const event of events) {
      print(event);
      if (event.type === step.abort) gaveUp.abort();
    }
  } catch (e) {
    print({ type: "thrown", name: e.name, message: e.message });
  }
}
