// A rule's form. Before it is saved the server tries it as a dry run: what is added, moved, removed, and what stays.
import { Alert, Autocomplete, Button, Checkbox, Group, Select, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { useAccounts } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useWorkspace, useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { localDay } from "../../ui/times";
import { zones } from "../../ui/zones";
import type { Place } from "../composer/content";
import { useChannels } from "../composer/useChannels";
import { Where } from "../composer/Where";
import { newPattern, patternWords, readPattern, writePattern, type PatternForm } from "./pattern";
import { PatternFields } from "./PatternFields";
import { Plan } from "./Plan";
import type { Rule } from "./Rules";
import { useCategories } from "./useCategories";
import { t } from "../../messages/drafts";

interface Values {
  name: string;
  category_id: string;
  zone: string;
  starts: string;
  /** Empty: for ever. */
  ends: string;
  /** The wall time that an interval is counted from. */
  from: string;
  places: Place[];
  pool_id: string | null;
  needs_media: boolean;
  gap: Rule["gap"];
  fold: Rule["fold"];
  pattern: PatternForm;
}

export function RuleEditor({ rule, onClose }: { rule: Rule | null; onClose: () => void }) {
  const workspace_id = useWorkspaceId();
  const workspace = useWorkspace();
  const categories = useCategories();
  const accounts = useAccounts();
  const channels = useChannels();
  const zone = workspace.data?.zone ?? "UTC";
  const form = useForm<Values>({
    initialValues: {
      name: rule?.name ?? "",
      category_id: rule?.category_id ?? "",
      zone: rule?.zone ?? zone,
      starts: rule?.starts.slice(0, 10) ?? localDay(new Date(), zone),
      ends: rule?.ends?.slice(0, 10) ?? "",
      from: rule?.starts.slice(11, 16) || "00:00",
      places: rule === null ? [] : rule.targets.map(({ account_id, channel }) => ({ account_id, channel: channel as Place["channel"] })),
      pool_id: rule?.pool_id ?? null,
      needs_media: rule?.needs_media ?? false,
      gap: rule?.gap ?? "shift",
      fold: rule?.fold ?? "first",
      pattern: rule === null ? newPattern : readPattern(rule.pattern),
    },
  });
  const [typed] = useDebouncedValue(form.values, 500);
  const whole = typed.name !== "" && typed.category_id !== "" && typed.places.length > 0;
  const send = (values: Values, dry_run: boolean) => {
    const body = written(values);
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
  const save = useAct("rule", (values: Values) => send(values, false), {
    done: ({ rule: kept }) => t("nameSaved", { name: kept.name }),
    after: onClose,
    refused: (error) => {
      if (error instanceof Problem) form.setErrors(error.fields);
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <TextInput label={t("name")} required miw={200} data-autofocus {...form.getInputProps("name")} />
          <Select
            label={t("category")}
            description={t("itsTextHashtagsAndImages")}
            required
            miw={200}
            data={(categories.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            {...form.getInputProps("category_id")}
          />
        </Group>
        <Where accounts={accounts.data ?? []} channels={channels} places={form.values.places} required onChange={(places) => form.setFieldValue("places", places)} />
        <PatternFields pattern={form.values.pattern} onChange={(pattern) => form.setFieldValue("pattern", pattern)} />
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <Autocomplete label={t("timeZone")} required miw={170} data={zones} limit={20} {...form.getInputProps("zone")} />
          <TextInput type="date" label={t("starts")} required miw={140} {...form.getInputProps("starts")} />
          {form.values.pattern.kind === "interval" && <TextInput type="time" label={t("firstTime")} required miw={120} {...form.getInputProps("from")} />}
          <TextInput type="date" label={t("ends")} description={t("leaveEmptyForNoEnd")} miw={140} {...form.getInputProps("ends")} />
        </Group>
        <Select
          label={t("imagesFrom")}
          description={t("takesTurnsLeastUsedFirst")}
          placeholder={t("theCategorysOwnImages")}
          clearable
          data={(categories.data ?? []).filter(({ id }) => id !== form.values.category_id).map(({ id, name }) => ({ value: id, label: t("imagesOfName", { name }) }))}
          {...form.getInputProps("pool_id")}
        />
        <Checkbox label={t("requireAnImage")} description={t("ifNoneIsLeftThePost")} {...form.getInputProps("needs_media", { type: "checkbox" })} />
        {form.values.pattern.kind !== "interval" && (
          <Group grow align="flex-start" preventGrowOverflow={false} role="group" aria-label={t("whenClocksChange")}>
            <Select label={t("whenClocksGoForward")} description={t("inSpring0230DoesntExist")} allowDeselect={false} miw={220} data={gaps} {...form.getInputProps("gap")} />
            <Select label={t("whenClocksGoBack")} description={t("inFall0230HappensTwice")} allowDeselect={false} miw={220} data={folds} {...form.getInputProps("fold")} />
          </Group>
        )}
        {plan.error !== null && whole && (
          <Alert color="red" role="alert">
            {plan.error instanceof Problem && plan.error.faults.length > 0 ? plan.error.faults.map((each) => each.message).join(" ") : plan.error.message}
          </Alert>
        )}
        {whole && plan.data !== undefined && plan.error === null && <Plan plan={plan.data.plan} zone={plan.data.rule.zone} message={patternWords(typed.pattern)} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("cancel")}
          </Button>
          <Button type="submit" disabled={!whole || plan.error !== null} loading={save.isPending}>
            {t("saveRule")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const gaps: { value: Rule["gap"]; label: string }[] = [
  { value: "shift", label: t("sendAnHourLater") },
  { value: "next_valid", label: t("sendWhenTheClockChanges") },
  { value: "skip", label: t("skipThatDay") },
];

const folds: { value: Rule["fold"]; label: string }[] = [
  { value: "first", label: t("sendTheFirstTime") },
  { value: "second", label: t("sendTheSecondTime") },
  { value: "both", label: t("sendBothTimes") },
];

function written(values: Values) {
  const { from, places, pattern, starts, ends, ...rest } = values;
  return {
    ...rest,
    starts: `${starts}T${from}`,
    ends: ends === "" ? null : ends,
    targets: places,
    pattern: writePattern(pattern),
  };
}
