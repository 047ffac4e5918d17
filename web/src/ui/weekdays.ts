// The days of the week by the server's number: Sunday is 0.
import { t } from "../messages/ui";

export const weekdayNames = [t("sunday"), t("monday"), t("tuesday"), t("wednesday"), t("thursday"), t("friday"), t("saturday")] as const;

/** From Monday on, as forms and tables show them. */
export const weekdays: readonly { day: string; name: string; short: string }[] = [1, 2, 3, 4, 5, 6, 0].map((day) => {
  const name = weekdayNames[day] ?? "";
  return { day: String(day), name, short: name.slice(0, 3) };
});
