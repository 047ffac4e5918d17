// A rule's pattern: as the form holds it, as the server takes it, and in words.
import { weekdayNames } from "../../ui/weekdays";
import { t } from "../../messages/drafts";

export interface Nth {
  nth: string;
  weekday: string;
}

export interface PatternForm {
  kind: "weekly" | "daily" | "monthly" | "interval";
  weekdays: string[];
  days: string[];
  /** Weekdays of the month: the second Tuesday, the last Friday. */
  nth: Nth[];
  /** What becomes of the 31st where a month has none. */
  shortMonth: "last" | "skip";
  times: string[];
  step: number;
  hours: number;
}

export const nthNames: Record<string, string> = {
  "1": t("first"),
  "2": t("second"),
  "3": t("third"),
  "4": t("fourth"),
  "5": t("fifth"),
  "-1": t("last"),
  "-2": t("secondToLast"),
  "-3": t("thirdToLast"),
  "-4": t("fourthToLast"),
  "-5": t("fifthToLast"),
};

export const newPattern: PatternForm = { kind: "weekly", weekdays: ["1"], days: ["1"], nth: [], shortMonth: "last", times: ["09:00"], step: 1, hours: 24 };

export function readPattern(shape: Record<string, unknown>): PatternForm {
  const list = (name: string): unknown[] => (Array.isArray(shape[name]) ? (shape[name] as unknown[]) : []);
  const kind = (["weekly", "daily", "monthly", "interval"] as const).find((each) => each === shape.kind) ?? "weekly";
  return {
    kind,
    weekdays: kind === "weekly" ? list("weekdays").map(String) : newPattern.weekdays,
    days: kind === "monthly" ? list("days").map(String) : newPattern.days,
    nth: kind === "monthly" ? (list("weekdays") as { nth: number; weekday: number }[]).map(({ nth, weekday }) => ({ nth: String(nth), weekday: String(weekday) })) : [],
    shortMonth: shape.short_month === "skip" ? "skip" : "last",
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
      return {
        kind,
        days: form.days.map(Number),
        weekdays: form.nth.map(({ nth, weekday }) => ({ nth: Number(nth), weekday: Number(weekday) })),
        times,
        step,
        short_month: form.shortMonth,
      };
    case "interval":
      return { kind, hours: form.hours };
  }
}

/** "Mondays and Thursdays at 09:00", "Every month on the last Friday at 09:00" */
export function patternWords(form: PatternForm): string {
  const at = form.times.length === 0 ? "" : t("atList", { list: and(form.times) });
  switch (form.kind) {
    case "weekly": {
      const days = and(form.weekdays.map(Number).sort((one, other) => ((one + 6) % 7) - ((other + 6) % 7)).map((day) => `${weekdayNames[day] ?? day}s`));
      return form.step === 1 ? `${days}${at}` : t("daysEveryStepWeeksAt", { days, step: form.step, at });
    }
    case "daily":
      return form.step === 1 ? t("everyDayAt", { at }) : t("everyStepDaysAt", { step: form.step, at });
    case "monthly": {
      const days = form.days.map((day) => (day === "-1" ? t("lastDay") : t("dayDay", { day })));
      const nth = form.nth.map((each) => t("theNthWeekday", { nth: nthNames[each.nth] ?? each.nth, weekday: weekdayNames[Number(each.weekday)] ?? each.weekday }));
      return t("valueOnListAt", { value: form.step === 1 ? t("everyMonth") : t("everyStepMonths", { step: form.step }), list: and([...days, ...nth]), at });
    }
    case "interval":
      return t("everyHoursHours", { hours: form.hours });
  }
}

/** Say whether some month is too short for one of the days. */
export const isLong = (days: readonly string[]): boolean => days.some((day) => Math.abs(Number(day)) > 28);

function and(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : t("listAndAt", { list: words.slice(0, -1).join(", "), at: words.at(-1) ?? "" });
}
