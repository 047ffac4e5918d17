// A refusal as the server tells it (RFC 9457): what was wrong, what to do, and which fields.
import { t } from "../messages/api";

export interface Fault {
  path: string;
  message: string;
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
      return new Problem(status, "unreadable", t("theServerReturnedAnErrorStatus", { status }));
    }
    const told = body as { type?: string; detail: string; errors?: Fault[] };
    const code = told.type?.split(":").pop() ?? "unknown";
    const faults = told.errors ?? [];
    return new Problem(status, code, inWords(told.detail, faults), faults, body as Record<string, unknown>);
  }

  /** The faults by field, for a form: `body.name` becomes `name`. */
  get fields(): Record<string, string> {
    return Object.fromEntries(this.faults.map(({ path, message }) => [path.replace(/^body\./, ""), message]));
  }
}

/** Name a single fault as its field is called on the screen: `body.password: …` becomes `Password: …`. */
function inWords(detail: string, faults: readonly Fault[]): string {
  const [fault, ...more] = faults;
  if (fault === undefined || more.length > 0 || detail !== `${fault.path}: ${fault.message}`) return detail;
  const field = fault.path.split(".").findLast((part) => !/^\d+$/.test(part)) ?? fault.path;
  const name = field.replaceAll("_", " ");
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${fault.message}`;
}
