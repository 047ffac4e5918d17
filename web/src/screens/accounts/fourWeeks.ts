// What an account did in four weeks, as charts take it and as words say it.
import type { Schemas } from "../../api/client";
import { addDays, longDay } from "../../ui/times";
import { weekdayNames, weekdays } from "../../ui/weekdays";
import { t } from "../../messages/accounts";

type Use = Pick<Schemas["AccountUseView"], "days" | "hours" | "since">;

const MOST = 35; // days: a clock that is wrong must not draw years
const clockOf = (hour: number) => `${String(hour).padStart(2, "0")}:00`;

/** Every day since the beginning, also those on which nothing went out. */
export function byDay({ days, since }: Use, today: string) {
  const found = new Map(days.map((each) => [each.day, each]));
  const dates: string[] = [];
  for (let day = since; day <= today && dates.length < MOST; day = addDays(day, 1)) dates.push(day);
  const [sent, refused] = [dates.map((day) => found.get(day)?.sent ?? 0), dates.map((day) => found.get(day)?.refused ?? 0)];
  const sum = (values: number[]) => values.reduce((all, each) => all + each, 0);
  const most = dates[sent.indexOf(Math.max(...sent))];
  const totals = { sent: sum(sent), refused: sum(refused) };
  return {
    places: dates.map(longDay),
    marks: dates.flatMap((day, at) => (at % 7 === 0 ? [{ at, name: dayAndMonth(day) }] : [])),
    sent,
    refused,
    message: most === undefined || totals.sent === 0 ? t("byDaySummary", totals) : t("byDaySummaryWithPeak", { ...totals, day: longDay(most), peak: Math.max(...sent) }),
  };
}

/** The 168 hours of a week from Monday on. */
export function byHour({ hours }: Use) {
  const sent = new Map(hours.map((each) => [`${each.weekday} ${each.hour}`, each.sent]));
  const cells = weekdays.flatMap(({ day, name }) => Array.from({ length: 24 }, (_, hour) => ({ name: `${name} ${clockOf(hour)}`, sent: sent.get(`${day} ${hour}`) ?? 0 })));
  const total = cells.reduce((all, each) => all + each.sent, 0);
  const best = hours.toSorted((one, other) => other.sent - one.sent)[0];
  return {
    places: cells.map(({ name }) => name),
    marks: weekdays.map(({ short }, at) => ({ at: at * 24, name: short })),
    sent: cells.map((each) => each.sent),
    message: best === undefined ? t("byHourSummary", { total }) : t("byHourSummaryWithPeak", { total, weekday: weekdayNames[best.weekday] ?? "", time: clockOf(best.hour) }),
  };
}

function dayAndMonth(day: string): string {
  const [, date = "", month = ""] = longDay(day).split(" ");
  return `${date} ${month.slice(0, 3)}`;
}
