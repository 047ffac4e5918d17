import { Button, Chip, Group, NumberInput, Select, Stack, TagsInput } from "@mantine/core";

import { weekdayNames } from "../../ui/weekdays";
import { isLong, nthNames, type Nth, type PatternForm } from "./pattern";
import { t } from "../../messages/drafts";

/** How often: weekdays, days, days and weekdays of the month, or hours. */
export function PatternFields({ pattern, onChange }: { pattern: PatternForm; onChange: (pattern: PatternForm) => void }) {
  const set = (change: Partial<PatternForm>) => onChange({ ...pattern, ...change });
  const steps = { weekly: t("everyWeeks"), daily: t("everyDays"), monthly: t("everyMonths") };
  return (
    <Stack gap="sm">
      <Group align="flex-end">
        <Select
          label={t("howOften")}
          allowDeselect={false}
          w={180}
          data={[
            { value: "weekly", label: t("weekly") },
            { value: "daily", label: t("everyFewDays") },
            { value: "monthly", label: t("monthly") },
            { value: "interval", label: t("everyFewHours") },
          ]}
          value={pattern.kind}
          onChange={(kind) => kind !== null && set({ kind: kind as PatternForm["kind"] })}
        />
        {pattern.kind === "interval" ? (
          <NumberInput label={t("hoursBetween")} w={130} min={1} max={8760} allowDecimal={false} value={pattern.hours} onChange={(hours) => set({ hours: Number(hours) || 1 })} />
        ) : (
          <NumberInput label={steps[pattern.kind]} w={130} min={1} max={100} allowDecimal={false} value={pattern.step} onChange={(step) => set({ step: Number(step) || 1 })} />
        )}
      </Group>
      {pattern.kind === "weekly" && (
        <Chip.Group multiple value={pattern.weekdays} onChange={(weekdays) => set({ weekdays })}>
          <Group gap={6} role="group" aria-label={t("weekdays")}>
            {[1, 2, 3, 4, 5, 6, 0].map((day) => (
              <Chip key={day} value={String(day)} size="sm">
                {weekdayNames[day]}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      )}
      {pattern.kind === "monthly" && <MonthFields pattern={pattern} set={set} />}
      {pattern.kind !== "interval" && (
        <TagsInput
          label={t("times")}
          description={t("forExample0900PressEnter")}
          value={pattern.times}
          onChange={(times) => set({ times: times.map((each) => each.trim().padStart(5, "0")).filter((each) => /^([01]\d|2[0-3]):[0-5]\d$/.test(each)) })}
        />
      )}
    </Stack>
  );
}

function MonthFields({ pattern, set }: { pattern: PatternForm; set: (change: Partial<PatternForm>) => void }) {
  const change = (at: number, part: Partial<Nth>) => set({ nth: pattern.nth.map((each, index) => (index === at ? { ...each, ...part } : each)) });
  return (
    <Stack gap="sm">
      <TagsInput
        label={t("daysOfTheMonth")}
        description={t("text1To31Or1For")}
        value={pattern.days}
        onChange={(days) => set({ days: days.filter((day) => /^-?\d{1,2}$/.test(day)) })}
      />
      {isLong(pattern.days) && (
        <Select
          label={t("ifAMonthDoesntHaveThat")}
          allowDeselect={false}
          w={260}
          data={[
            { value: "last", label: t("useItsLastDay") },
            { value: "skip", label: t("skipThatMonth") },
          ]}
          value={pattern.shortMonth}
          onChange={(shortMonth) => set({ shortMonth: shortMonth === "skip" ? "skip" : "last" })}
        />
      )}
      {pattern.nth.map((each, at) => (
        <Group key={at} gap="xs" align="flex-end">
          <Select
            label={t("which")}
            aria-label={t("whichOneInTheMonthAt", { at: at + 1 })}
            allowDeselect={false}
            w={160}
            data={Object.entries(nthNames).map(([value, label]) => ({ value, label }))}
            value={each.nth}
            onChange={(nth) => nth !== null && change(at, { nth })}
          />
          <Select
            label={t("weekday")}
            aria-label={t("weekdayOfTheMonthAt", { at: at + 1 })}
            allowDeselect={false}
            w={150}
            data={weekdayNames.map((label, value) => ({ value: String(value), label }))}
            value={each.weekday}
            onChange={(weekday) => weekday !== null && change(at, { weekday })}
          />
          <Button size="compact-sm" variant="subtle" color="gray" mb={4} onClick={() => set({ nth: pattern.nth.toSpliced(at, 1) })} aria-label={t("removeTheNthWeekday", { nth: nthNames[each.nth] ?? each.nth, weekday: weekdayNames[Number(each.weekday)] ?? "" })}>
            {t("remove")}
          </Button>
        </Group>
      ))}
      <Button w="fit-content" size="compact-sm" variant="default" onClick={() => set({ nth: [...pattern.nth, { nth: "1", weekday: "1" }] })}>
        {t("addAWeekdayOfTheMonth")}
      </Button>
    </Stack>
  );
}
