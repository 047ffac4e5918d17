// A rule's form. Before it is saved the server rehearses it: what is added, moved, removed, and what stays.
import { Alert, Autocomplete, Button, Checkbox, Chip, Group, MultiSelect, NumberInput, Select, Stack, TagsInput, TextInput } from "@mantine/core";
import { DateInput } from "@mantine/dates";
import { useForm } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { useAccounts } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useWorkspace, useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { accountLabel } from "../../ui/AccountChoice";
import { localDay } from "../../ui/times";
import { zones } from "../../ui/zones";
import { newPattern, patternWords, readPattern, weekdayNames, writePattern, type PatternForm } from "./pattern";
import { Plan } from "./Plan";
import type { Rule } from "./Rules";
import { useCategories } from "./useCategories";

interface Values {
  name: string;
  category_id: string;
  zone: string;
  starts: string;
  ends: string | null;
  accounts: string[];
  needs_media: boolean;
  pattern: PatternForm;
}

export function RuleEditor({ rule, onClose }: { rule: Rule | null; onClose: () => void }) {
  const workspace_id = useWorkspaceId();
  const workspace = useWorkspace();
  const categories = useCategories();
  const accounts = useAccounts();
  const zone = workspace.data?.zone ?? "UTC";
  const form = useForm<Values>({
    initialValues: {
      name: rule?.name ?? "",
      category_id: rule?.category_id ?? "",
      zone: rule?.zone ?? zone,
      starts: rule?.starts.slice(0, 10) ?? localDay(new Date(), zone),
      ends: rule?.ends?.slice(0, 10) ?? null,
      accounts: rule === null ? [] : [...new Set(rule.targets.map((each) => each.account_id))],
      needs_media: rule?.needs_media ?? false,
      pattern: rule === null ? newPattern : readPattern(rule.pattern),
    },
  });
  const [typed] = useDebouncedValue(form.values, 500);
  const whole = typed.name !== "" && typed.category_id !== "" && typed.accounts.length > 0;
  const send = (values: Values, dry_run: boolean) => {
    const body = written(values, rule);
    return rule === null
      ? take(api.POST("/api/v1/workspaces/{workspace_id}/rules", { params: { path: { workspace_id }, query: { dry_run } }, body }))
      : take(
          api.PUT("/api/v1/workspaces/{workspace_id}/rules/{rule_id}", {
            params: { path: { workspace_id, rule_id: rule.id }, query: { dry_run } },
            body: { ...body, revision: rule.revision },
          }),
        );
  };
  const plan = useQuery({
    queryKey: [workspace_id, "rule-plan", rule?.id, typed],
    queryFn: () => send(typed, true),
    enabled: whole,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const save = useAct((values: Values) => send(values, false), {
    done: ({ rule: kept }) => `${kept.name} is saved.`,
    after: onClose,
    refused: (error) => {
      if (error instanceof Problem) form.setErrors(error.fields);
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <TextInput label="Name" required miw={200} data-autofocus {...form.getInputProps("name")} />
          <Select
            label="Category"
            description="Its words, hashtags and pictures"
            required
            miw={200}
            data={(categories.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            {...form.getInputProps("category_id")}
          />
        </Group>
        <MultiSelect
          label="Accounts"
          required
          searchable
          data={(accounts.data ?? []).map((each) => ({ value: each.id, label: accountLabel(each) }))}
          {...form.getInputProps("accounts")}
        />
        <PatternFields pattern={form.values.pattern} onChange={(pattern) => form.setFieldValue("pattern", pattern)} />
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <Autocomplete label="On the clock of" required miw={170} data={zones} limit={20} {...form.getInputProps("zone")} />
          <DateInput label="From" required miw={140} valueFormat="ddd D MMM YYYY" {...form.getInputProps("starts")} />
          <DateInput label="Until" placeholder="For ever" clearable miw={140} valueFormat="ddd D MMM YYYY" {...form.getInputProps("ends")} />
        </Group>
        <Checkbox label="Only with a picture" description="A post for which none is left waits until somebody adds one" {...form.getInputProps("needs_media", { type: "checkbox" })} />
        {plan.error !== null && whole && (
          <Alert color="red" role="alert">
            {plan.error instanceof Problem && plan.error.faults.length > 0 ? plan.error.faults.map((each) => each.says).join(" ") : plan.error.message}
          </Alert>
        )}
        {whole && plan.data !== undefined && plan.error === null && <Plan plan={plan.data.plan} zone={plan.data.rule.zone} says={patternWords(typed.pattern)} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Leave it
          </Button>
          <Button type="submit" disabled={!whole || plan.error !== null} loading={save.isPending}>
            Save the rule
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function written(values: Values, rule: Rule | null) {
  const same = rule?.starts.slice(0, 10) === values.starts;
  return {
    name: values.name,
    category_id: values.category_id,
    pool_id: rule?.pool_id ?? null,
    zone: values.zone,
    starts: same && rule !== null ? rule.starts : values.starts,
    ends: values.ends,
    // Channels that were chosen for an account elsewhere stay as they are.
    targets: values.accounts.flatMap((account_id) => {
      const kept = rule?.targets.filter((each) => each.account_id === account_id) ?? [];
      return kept.length > 0 ? kept.map(({ channel }) => ({ account_id, channel: channel as never })) : [{ account_id }];
    }),
    needs_media: values.needs_media,
    gap: rule?.gap ?? ("shift" as const),
    fold: rule?.fold ?? ("first" as const),
    pattern: writePattern(values.pattern),
  };
}

function PatternFields({ pattern, onChange }: { pattern: PatternForm; onChange: (pattern: PatternForm) => void }) {
  const set = (change: Partial<PatternForm>) => onChange({ ...pattern, ...change });
  const units = { weekly: "weeks", daily: "days", monthly: "months", interval: "hours" };
  return (
    <Stack gap="sm">
      <Group align="flex-end">
        <Select
          label="How often"
          allowDeselect={false}
          w={180}
          data={[
            { value: "weekly", label: "On weekdays" },
            { value: "daily", label: "Every so many days" },
            { value: "monthly", label: "On days of the month" },
            { value: "interval", label: "Every so many hours" },
          ]}
          value={pattern.kind}
          onChange={(kind) => kind !== null && set({ kind: kind as PatternForm["kind"] })}
        />
        {pattern.kind === "interval" ? (
          <NumberInput label="Hours between" w={130} min={1} max={8760} allowDecimal={false} value={pattern.hours} onChange={(hours) => set({ hours: Number(hours) || 1 })} />
        ) : (
          <NumberInput label={`Every … ${units[pattern.kind]}`} w={130} min={1} max={100} allowDecimal={false} value={pattern.step} onChange={(step) => set({ step: Number(step) || 1 })} />
        )}
      </Group>
      {pattern.kind === "weekly" && (
        <Chip.Group multiple value={pattern.weekdays} onChange={(weekdays) => set({ weekdays })}>
          <Group gap={6} role="group" aria-label="Weekdays">
            {[1, 2, 3, 4, 5, 6, 0].map((day) => (
              <Chip key={day} value={String(day)} size="sm">
                {weekdayNames[day]}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      )}
      {pattern.kind === "monthly" && (
        <TagsInput label="Days of the month" description="1 to 31; -1 is the last" value={pattern.days} onChange={(days) => set({ days: days.filter((day) => /^-?\d{1,2}$/.test(day)) })} />
      )}
      {pattern.kind !== "interval" && (
        <TagsInput
          label="Times"
          description="Such as 09:00; Enter after each"
          value={pattern.times}
          onChange={(times) => set({ times: times.map((each) => each.trim().padStart(5, "0")).filter((each) => /^([01]\d|2[0-3]):[0-5]\d$/.test(each)) })}
        />
      )}
    </Stack>
  );
}
