// A rule's pattern: as the form holds it, as the server takes it, and in words.
export interface PatternForm {
  kind: "weekly" | "daily" | "monthly" | "interval";
  weekdays: string[];
  days: string[];
  times: string[];
  step: number;
  hours: number;
  /** Nth weekdays ("the last Friday") cannot be edited here: they are kept as they are. */
  nth: unknown[];
}

export const weekdayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

export const newPattern: PatternForm = { kind: "weekly", weekdays: ["1"], days: ["1"], times: ["09:00"], step: 1, hours: 24, nth: [] };

export function readPattern(shape: Record<string, unknown>): PatternForm {
  const list = (name: string): unknown[] => (Array.isArray(shape[name]) ? (shape[name] as unknown[]) : []);
  const kind = (["weekly", "daily", "monthly", "interval"] as const).find((each) => each === shape.kind) ?? "weekly";
  return {
    kind,
    weekdays: kind === "weekly" ? list("weekdays").map(String) : newPattern.weekdays,
    days: kind === "monthly" ? list("days").map(String) : newPattern.days,
    nth: kind === "monthly" ? list("weekdays") : [],
    times: list("times").map(String),
    step: typeof shape.step === "number" ? shape.step : 1,
    hours: typeof shape.hours === "number" ? shape.hours : 24,
  };
}

export function writePattern(form: PatternForm): Record<string, unknown> {
  const { kind, times, step } = form;
  switch (kind) {
    case "weekly":
      return { kind, weekdays: form.weekdays.map(Number).sort(), times, step };
    case "daily":
      return { kind, times, step };
    case "monthly":
      return { kind, days: form.days.map(Number), weekdays: form.nth, times, step };
    case "interval":
      return { kind, hours: form.hours };
  }
}

/** "Mondays and Thursdays at 09:00", "Every 2 days at 09:00 and 17:00" */
export function patternWords(form: PatternForm): string {
  const at = form.times.length === 0 ? "" : ` at ${and(form.times)}`;
  switch (form.kind) {
    case "weekly": {
      const days = and(form.weekdays.map(Number).sort((one, other) => ((one + 6) % 7) - ((other + 6) % 7)).map((day) => `${weekdayNames[day] ?? day}s`));
      return form.step === 1 ? `${days}${at}` : `${days} every ${form.step} weeks${at}`;
    }
    case "daily":
      return form.step === 1 ? `Every day${at}` : `Every ${form.step} days${at}`;
    case "monthly": {
      const days = form.days.map((day) => (day === "-1" ? "the last day" : `day ${day}`));
      const all = [...days, ...(form.nth.length > 0 ? ["certain weekdays"] : [])];
      return `${form.step === 1 ? "Every month" : `Every ${form.step} months`} on ${and(all)}${at}`;
    }
    case "interval":
      return `Every ${form.hours} hours`;
  }
}

function and(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}
