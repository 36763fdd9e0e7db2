// A session with an independent client, the TypeScript SDK: node client.mjs PROGRAM, with OURO_HOME set to an empty folder and NODE_PATH to
// where @modelcontextprotocol/sdk is. It says each step, and ends with 1 at the first that is not as it should be.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

// The folder of modules is named by whoever calls, which an import by name would not heed.
const from = createRequire(path.join(process.env.NODE_PATH, "..", "package.json"));
const load = (name) => import(pathToFileURL(from.resolve("@modelcontextprotocol/sdk/" + name)).href);
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { ResourceUpdatedNotificationSchema } = await load("types.js");

let step = "";
const failed = (why) => {
  console.error(`${step}: ${why}`);
  process.exit(1);
};
const check = (is, why) => is || failed(typeof why === "string" ? why : JSON.stringify(why));
const says = (name) => console.log((step = name));

const client = new Client({ name: "session", version: "1" });
const transport = new StdioClientTransport({ command: process.argv[2], args: ["mcp", "--max", "20s"], env: process.env, stderr: "inherit" });
client.onerror = (e) => failed(e);
await client.connect(transport);

const call = async (name, args, options) => {
  const r = await client.callTool({ name, arguments: args }, undefined, { timeout: 60_000, ...options });
  const bare = JSON.stringify(r.structuredContent, (_, v) => v !== null && typeof v === "object" && !Array.isArray(v)
    ? Object.fromEntries(Object.entries(v).filter(([, x]) => x !== null)) : v);
  check(r.content[0].text === bare || JSON.stringify(JSON.parse(r.content[0].text)) === bare, r);
  return r;
};
const good = async (name, args, options) => {
  const r = await call(name, args, options);
  check(!r.isError, `${name} ${JSON.stringify(args)}: ${r.content[0].text}`);
  return r.structuredContent;
};
const bad = async (name, args) => {
  const r = await call(name, args);
  check(r.isError === true, `${name} ${JSON.stringify(args)} is no error: ${r.content[0].text}`);
  return r.structuredContent;
};

says("list tools");
const { tools } = await client.listTools();
check(tools.length === 10 && tools.every((t) => t.inputSchema && t.outputSchema && t.description), tools.map((t) => t.name));

says("schedule_task");
const { id } = await good("schedule_task", { when: "tomorrow at 10:00", command: ["true"] });
check((await bad("schedule_task", { when: "banana", task: "x" })).error.code === "time_not_understood", "code");

says("list_tasks");
check((await good("list_tasks", {})).tasks[0].id === id, "the task is not there");
await bad("list_tasks", { limit: 0 });

says("edit_task");
check((await good("edit_task", { id, when: "+1h" })).changed.includes("due"), "due");
await bad("edit_task", { id: "zzzz", when: "+1h" });

says("explain_time");
check((await good("explain_time", { when: "every weekday at 9am" })).next.length === 5, "next");
check((await bad("explain_time", { when: "at 7" })).error.candidates.length === 2, "candidates");

says("task_log");
check((await good("task_log", { id, number: 5 })).log.length > 0, "log");
await bad("task_log", { id: "zzzz" });

says("inbox");
check((await good("inbox", { take: true })).items.length === 0, "items");
await bad("inbox", { ack: ["zzzz/1"] });

says("wait_for_health");
check((await good("wait_for_health", { targets: ["file:" + process.argv[2]] })).healthy, "healthy");
await bad("wait_for_health", { targets: ["nonsense"] });

says("notify");
await good("notify", { list: true });
await bad("notify", {});

says("cancel_task");
check((await good("cancel_task", { ids: [id] })).removed[0].id === id, "removed");
await bad("cancel_task", { ids: ["zzzz"] });

says("wait");
check((await good("wait", { when: "0.1", task: "tea" })).status === "triggered", "status");
await bad("wait", { when: "yesterday" });

says("wait, in parts");
const part = await good("wait", { when: "1h", task: "later", max_seconds: 1 });
check(part.status === "waiting" && part.call.name === "wait", part);
check((await good(part.call.name, { ...part.call.arguments, max_seconds: 1 })).id === part.id, "another wait");
await good("cancel_task", { ids: [part.id] });

says("cancel a wait");
const ending = new AbortController();
const waiting = client.callTool({ name: "wait", arguments: { when: "1h", task: "never" } }, undefined, { signal: ending.signal, timeout: 60_000 });
const cancelled = waiting.then(() => false, () => true);
while (!(await good("list_tasks", {})).tasks.some((t) => t.task === "never")) {} // until it has begun
ending.abort();
check(await cancelled, "it was answered");
// It is kept, and can be gone on with.
const kept = (await good("list_tasks", {})).tasks.find((t) => t.task === "never");
check((await good("wait", { resume: kept.id, max_seconds: 1 })).status === "waiting", kept);
await good("cancel_task", { ids: [kept.id] });

says("progress");
let told = 0;
await good("wait", { when: "1h", max_seconds: 8 }, { onprogress: () => told++ });
check(told > 0, "no progress was told");
for (const t of (await good("list_tasks", {})).tasks) await good("cancel_task", { ids: [t.id] });

says("resources");
check((await client.listResources()).resources.length === 2, "resources");
const changed = new Promise((done) => client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => done(n.params.uri)));
await client.subscribeResource({ uri: "ouro://tasks" });
await good("schedule_task", { when: "1h", task: "x" });
check((await changed) === "ouro://tasks", "another resource changed");
check(JSON.parse((await client.readResource({ uri: "ouro://tasks" })).contents[0].text).total === 1, "tasks");

says("200 calls at once");
const answers = await Promise.all(Array.from({ length: 200 }, (_, i) =>
  i % 2 ? good("schedule_task", { when: "2h", task: `message ${i}` }) : good("explain_time", { when: "in 5 minutes" })));
check(new Set(answers.map((a) => a.id)).size === 101, "IDs");
check((await good("list_tasks", { limit: 1 })).total === 101, "tasks");

says("end");
client.onerror = undefined;
await client.close();
