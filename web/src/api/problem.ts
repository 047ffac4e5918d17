// A refusal as the server tells it (RFC 9457): what was wrong, what to do, and which fields.
export interface Fault {
  path: string;
  says: string;
  code: string;
}

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly faults: readonly Fault[] = [],
    readonly body: Record<string, unknown> = {},
  ) {
    super(message);
  }

  static read(status: number, body: unknown): Problem {
    if (typeof body !== "object" || body === null || !("detail" in body)) {
      return new Problem(status, "unreadable", `The server answered ${status} without saying why.`);
    }
    const told = body as { type?: string; detail: string; errors?: Fault[] };
    const code = told.type?.split(":").pop() ?? "unknown";
    return new Problem(status, code, told.detail, told.errors ?? [], body as Record<string, unknown>);
  }

  /** The faults by field, for a form: `body.name` becomes `name`. */
  get fields(): Record<string, string> {
    return Object.fromEntries(this.faults.map(({ path, says }) => [path.replace(/^body\./, ""), says]));
  }
}
