/**
 * Everything that came from one child process, so that nothing of it stays behind: its process group, its
 * descendants, and those that left both, which a variable in their environment gives away.
 *
 * Linux shows all three; elsewhere it is the group, and on Windows the tree.
 */

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** How often survivors are looked for before the rest is given up, as another user's or stuck. */
const ROUNDS = 100;
const BETWEEN_ROUNDS_MS = 5;

/** The variable that descendants inherit. */
const MARK = "QUIPU_CLIENT_CHILD";

interface Process {
  pid: number;
  parent: number;
  group: number;
  began: string;
  isZombie: boolean;
}

/** The processes below one child. */
export class Family {
  readonly #leader: number;
  readonly #mark: string;
  /** Descendants seen while their parents lived: pid and start time. */
  #seen = new Set<string>();

  constructor(leader: number, mark: string) {
    this.#leader = leader;
    this.#mark = mark;
  }

  /** The environment of a child, with a value of the variable that no other child has. */
  static environment(env: NodeJS.ProcessEnv): { env: NodeJS.ProcessEnv; mark: string } {
    const mark = `${process.pid}-${crypto.randomUUID()}`;
    return { env: { ...env, [MARK]: mark }, mark };
  }

  /** Looks at the descendants now, since they cannot be attributed once their parents are gone. */
  remember(): void {
    this.#seen = new Set(this.#members().map(identity));
  }

  /** Kills everyone, and waits until they are gone. */
  async kill(): Promise<void> {
    for (let round = 0; round < ROUNDS && this.killOnce(); round++) {
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_ROUNDS_MS));
    }
  }

  /** Kills everyone; says whether there was anyone. */
  killOnce(): boolean {
    if (process.platform === "win32") {
      spawnSync("taskkill", ["/pid", String(this.#leader), "/T", "/F"], { stdio: "ignore" });
      return false;
    }
    const members = this.#members();
    for (const { pid } of members) kill(pid);
    const inGroup = kill(-this.#leader);
    return members.length > 0 || (inGroup && process.platform !== "linux");
  }

  /** All living members. */
  #members(): Process[] {
    const table = processes();
    const members = table.filter((it) => {
      return it.group === this.#leader || this.#seen.has(identity(it)) || hasVariable(it.pid, this.#mark);
    });
    const found = new Set(members.map((it) => it.pid));
    for (let before = -1; before !== found.size; ) {
      before = found.size;
      for (const it of table) {
        if (found.has(it.parent) && !found.has(it.pid)) {
          found.add(it.pid);
          members.push(it);
        }
      }
    }
    return members.filter((it) => !it.isZombie);
  }
}

function identity({ pid, began }: Process): string {
  return `${pid} ${began}`;
}

/** Who is gone already need not be killed. */
function kill(pid: number): boolean {
  try {
    process.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}

/** The table of processes, as `/proc` shows it; empty where there is none. */
function processes(): Process[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").flatMap((name) => {
    const stat = /^\d+$/.test(name) ? read(`/proc/${name}/stat`) : "";
    // The name before the bracket may hold anything.
    const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
    const [state, parent, group] = fields;
    const began = fields[19];
    if (state === undefined || began === undefined) return [];
    return [{ pid: Number(name), parent: Number(parent), group: Number(group), began, isZombie: state === "Z" }];
  });
}

function hasVariable(pid: number, mark: string): boolean {
  return read(`/proc/${pid}/environ`).split("\0").includes(`${MARK}=${mark}`);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
