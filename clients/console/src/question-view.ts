/** Questions of the server as cards that are answered in place. */

import type { protocol } from "@quipu/client/websocket";

import { h } from "./dom.ts";
import { json } from "./format.ts";
import { oneChange, type ItemContext } from "./items.ts";
import { link } from "./links.ts";
import type { Question } from "./questions.ts";
import type { ThreadState } from "./thread.ts";

/** A button of a card: its text, what it answers, and whether it lets something happen. */
interface Choice {
  text: string;
  answer: unknown;
  allows?: boolean;
}

/** The card of a question. `thread` is known if its thread is followed. */
export function questionCard(question: Question, thread: ThreadState | undefined, context: ItemContext): HTMLElement {
  const { title, body, controls } = content(question, thread, context);
  return h(
    "section",
    { class: "question", "data-question": question.key, "aria-label": title, tabindex: "-1" },
    h("h2", {}, title),
    ...body,
    ...controls,
  );
}

/** What a question is about, in a few words. */
export function questionTitle({ method }: Question): string {
  switch (method) {
    case "item/commandExecution/requestApproval":
      return "May this command run?";
    case "item/fileChange/requestApproval":
      return "May these changes be made?";
    case "item/permissions/requestApproval":
      return "May the agent have more permissions?";
    case "mcpServer/elicitation/request":
      return "A tool asks";
    default:
      return "The agent asks";
  }
}

interface Content {
  title: string;
  body: HTMLElement[];
  controls: HTMLElement[];
}

function content(question: Question, thread: ThreadState | undefined, context: ItemContext): Content {
  const title = questionTitle(question);
  switch (question.method) {
    case "item/commandExecution/requestApproval":
      return { title, ...command(question) };
    case "item/fileChange/requestApproval":
      return { title, ...changes(question, thread, context) };
    case "item/permissions/requestApproval":
      return { title, ...permissions(question) };
    case "mcpServer/elicitation/request":
      return { title, ...elicitation(question) };
    default:
      return { title, ...userInput(question) };
  }
}

function buttons(question: Question, choices: Choice[]): HTMLElement {
  const one = ({ text, answer, allows }: Choice) =>
    h("button", { type: "button", class: allows ? "primary" : "", onclick: () => question.answer(answer) }, text);
  return h("div", { class: "buttons" }, ...choices.map(one));
}

function reasonOf(reason: unknown): HTMLElement[] {
  return typeof reason === "string" && reason !== "" ? [h("p", {}, reason)] : [];
}

const DECISIONS: protocol.CommandExecutionApprovalDecision[] = ["accept", "acceptForSession", "decline", "cancel"];

function decisionText(decision: protocol.CommandExecutionApprovalDecision): string {
  if (typeof decision === "string") {
    return {
      accept: "Allow once",
      acceptForSession: "Allow for this session",
      decline: "Decline",
      cancel: "Decline and stop",
    }[decision];
  }
  if ("acceptWithExecpolicyAmendment" in decision) {
    const prefix = decision.acceptWithExecpolicyAmendment.execpolicy_amendment.join(" ");
    return prefix.length <= 60 ? `Always allow \`${prefix}\`` : "Always allow exactly this";
  }
  const { action, host } = decision.applyNetworkPolicyAmendment.network_policy_amendment;
  return `Always ${action} ${host}`;
}

function command(question: Question): Omit<Content, "title"> {
  const params = question.params as unknown as protocol.CommandExecutionRequestApprovalParams;
  const { command: line, cwd, networkApprovalContext: network, additionalPermissions: more } = params;
  const decisions = params.availableDecisions ?? DECISIONS;
  const choices = decisions.map((decision) => ({
    text: decisionText(decision),
    answer: decision,
    allows: decision === "accept",
  }));
  const body = [
    ...(network ? [h("p", {}, `It wants to connect to ${network.host} (${network.protocol}).`)] : []),
    ...(line ? [h("pre", { class: "asked", tabindex: "0", role: "region", "aria-label": "Command" }, line)] : []),
    ...(cwd ? [h("p", { class: "dim" }, `in ${cwd}`)] : []),
    ...(more ? [h("pre", { class: "plain" }, json(more))] : []),
    ...reasonOf(params.reason),
  ];
  return { body, controls: [buttons(question, choices)] };
}

function changes(question: Question, thread: ThreadState | undefined, context: ItemContext): Omit<Content, "title"> {
  const { turnId, itemId, reason, grantRoot } = question.params as unknown as protocol.FileChangeRequestApprovalParams;
  const item = thread?.find(turnId)?.items.get(itemId);
  const files = (item as { changes?: protocol.FileUpdateChange[] } | undefined)?.changes ?? [];
  const body = [
    ...files.map((change) => oneChange(`question/${itemId}/${change.path}`, change, context)),
    ...(grantRoot ? [h("p", {}, `It wants to write below ${grantRoot} for the rest of the session.`)] : []),
    ...reasonOf(reason),
  ];
  const choices: Choice[] = [
    { text: "Allow", answer: "accept", allows: true },
    { text: "Allow for this session", answer: "acceptForSession" },
    { text: "Decline", answer: "decline" },
    { text: "Decline and stop", answer: "cancel" },
  ];
  return { body, controls: [buttons(question, choices)] };
}

function permissions(question: Question): Omit<Content, "title"> {
  const { permissions: wanted, reason } = question.params as unknown as protocol.PermissionsRequestApprovalParams;
  const granted = {
    ...(wanted.network && { network: wanted.network }),
    ...(wanted.fileSystem && { fileSystem: wanted.fileSystem }),
  };
  const choices: Choice[] = [
    { text: "Grant for this turn", answer: { permissions: granted, scope: "turn" }, allows: true },
    { text: "Grant for this session", answer: { permissions: granted, scope: "session" } },
    { text: "Decline", answer: { permissions: {}, scope: "turn" } },
  ];
  return {
    body: [h("pre", { class: "plain" }, json(wanted)), ...reasonOf(reason)],
    controls: [buttons(question, choices)],
  };
}

/** Submits a form's answer and keeps the browser from leaving the page. */
function form(submit: () => void, ...children: (Node | string)[]): HTMLFormElement {
  const element = h("form", {}, ...children);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return element;
}

function userInput(question: Question): Omit<Content, "title"> {
  const { questions } = question.params as unknown as protocol.ToolRequestUserInputParams;
  const fields = questions.map((it) => userField(question.key, it));
  const submit = () => {
    const answers = fields.map(({ id, value }) => [id, { answers: value() }]);
    question.answer({ answers: Object.fromEntries(answers) });
  };
  const send = h(
    "div",
    { class: "buttons" },
    h("button", { class: "primary" }, "Answer"),
    h("button", { type: "button", onclick: () => question.answer({ answers: {} }) }, "Skip"),
  );
  return { body: [], controls: [form(submit, ...fields.map(({ element }) => element), send)] };
}

interface Field {
  id: string;
  element: HTMLElement;
  value(): string[];
}

function userField(key: number, it: protocol.ToolRequestUserInputQuestion): Field {
  const name = `question-${key}-${it.id}`;
  const options = (it.options ?? []).map(({ label, description }) => {
    const input = h("input", { type: "radio", name, value: label });
    return {
      input,
      element: h(
        "label",
        { class: "option" },
        input,
        h("span", {}, h("strong", {}, label), " ", h("span", { class: "dim" }, description)),
      ),
    };
  });
  const takesText = it.options === null || it.isOther;
  const own = h("input", {
    type: it.isSecret ? "password" : "text",
    "aria-label": it.options ? "Another answer" : it.question,
    placeholder: it.options ? "Another answer" : "",
    autocomplete: "off",
  });
  const element = h(
    "fieldset",
    {},
    h("legend", {}, it.header),
    h("p", {}, it.question),
    ...options.map((option) => option.element),
    takesText && own,
  );
  const value = () => {
    const picked = options.find(({ input }) => input.checked)?.input.value;
    return [picked, takesText ? own.value.trim() : ""].filter(
      (text): text is string => text !== undefined && text !== "",
    );
  };
  return { id: it.id, element, value };
}

interface Schema {
  type?: string;
  title?: string;
  description?: string;
  enum?: string[];
  oneOf?: { const: string; title?: string }[];
  default?: unknown;
}

function elicitation(question: Question): Omit<Content, "title"> {
  const params = question.params as unknown as protocol.McpServerElicitationRequestParams;
  const intro = h("p", {}, h("strong", {}, params.serverName), ": ", params.message);
  const decline = (action: "decline" | "cancel", text: string) =>
    h("button", { type: "button", onclick: () => question.answer({ action, content: null, _meta: null }) }, text);
  if (params.mode === "url") {
    const accept = h(
      "button",
      {
        type: "button",
        class: "primary",
        onclick: () => question.answer({ action: "accept", content: null, _meta: null }),
      },
      "I have done that",
    );
    return {
      body: [intro, link(params.url, params.url)],
      controls: [h("div", { class: "buttons" }, accept, decline("decline", "Decline"), decline("cancel", "Cancel"))],
    };
  }
  const { properties, required = [] } = params.requestedSchema;
  const fields = Object.entries(properties).map(([name, schema]) =>
    schemaField(name, schema as Schema, required.includes(name)),
  );
  const persists = persistence(params._meta);
  const submit = (meta: unknown) => {
    const values = fields.map(({ name, value }) => [name, value()] as const).filter(([, value]) => value !== undefined);
    question.answer({ action: "accept", content: Object.fromEntries(values), _meta: meta });
  };
  const more = persists.map((persist) =>
    h(
      "button",
      { type: "button", onclick: () => submit({ persist }) },
      persist === "always" ? "Always accept" : "Accept for this session",
    ),
  );
  const send = h(
    "div",
    { class: "buttons" },
    h("button", { class: "primary" }, "Accept"),
    ...more,
    decline("decline", "Decline"),
    decline("cancel", "Cancel"),
  );
  return { body: [intro], controls: [form(() => submit(null), ...fields.map(({ element }) => element), send)] };
}

/** How long the approval of a tool may last, if it says so. */
function persistence(meta: protocol.JsonValue | null): string[] {
  const { persist } = (meta ?? {}) as { persist?: unknown };
  const given = Array.isArray(persist) ? persist : [persist];
  return given.filter((it): it is string => it === "session" || it === "always");
}

function schemaField(
  name: string,
  schema: Schema,
  isRequired: boolean,
): { name: string; element: HTMLElement; value(): unknown } {
  const text = schema.title ?? name;
  const wrap = (input: HTMLElement) =>
    h(
      "label",
      { class: "field" },
      `${text}${isRequired ? " *" : ""}`,
      input,
      schema.description !== undefined && h("span", { class: "dim" }, schema.description),
    );
  const options =
    schema.oneOf?.map((it) => [it.const, it.title ?? it.const] as const) ?? schema.enum?.map((it) => [it, it] as const);
  if (options) {
    const select = h(
      "select",
      { required: isRequired },
      ...options.map(([value, shown]) => h("option", { value, selected: schema.default === value }, shown)),
    );
    return { name, element: wrap(select), value: () => select.value };
  }
  if (schema.type === "boolean") {
    const box = h("input", { type: "checkbox", checked: schema.default === true });
    return { name, element: wrap(box), value: () => box.checked };
  }
  const isNumber = schema.type === "number" || schema.type === "integer";
  const input = h("input", {
    type: isNumber ? "number" : "text",
    step: schema.type === "integer" ? "1" : isNumber ? "any" : null,
    required: isRequired,
    value: schema.default ?? "",
  });
  const value = () => (input.value === "" ? undefined : isNumber ? Number(input.value) : input.value);
  return { name, element: wrap(input), value };
}
