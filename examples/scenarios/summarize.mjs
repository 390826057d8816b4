// What a nightly job might be: one question by the Agent SDK, its answer on stdout. Without an answer it ends with 1.
const { query } = await import(process.env.SDK ?? "@anthropic-ai/claude-agent-sdk");

let answer;
const options = process.env.CLAUDE ? { pathToClaudeCodeExecutable: process.env.CLAUDE } : {};
for await (const message of query({ prompt: "Summarize the open incidents", options })) {
  if (message.type === "result" && !message.is_error) answer = message.result;
}
if (answer === undefined) process.exit(1);
console.log(answer);
