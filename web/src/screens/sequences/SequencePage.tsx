import { Alert, Anchor, Badge, Button, Group, Menu, Paper, Select, Stack, Text } from "@mantine/core";
import { IconDots, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { Link, useNavigate } from "react-router";

import { useAccounts } from "../../api/accounts";
import { useAudiences } from "../../api/audiences";
import { useMay, useWorkspace, useWorkspaceId } from "../../api/me";
import { useTemplates } from "../../api/templates";
import { askFirst } from "../../ui/ask";
import { askFor } from "../../ui/askFor";
import { Fetched } from "../../ui/Fetched";
import { Page } from "../../ui/Page";
import { Section } from "../../ui/Section";
import { StateBadge } from "../../ui/StateBadge";
import { momentThere } from "../../ui/times";
import { asSentence, channelName } from "../../ui/words";
import { ContactChoice } from "../contacts/Members";
import { bindingWords } from "./planChart";
import { PlanView } from "./PlanView";
import { SequenceContacts } from "./SequenceContacts";
import { SequenceForm } from "./SequenceForm";
import { usePlan, useReport, useSequence, useSequenceActs, type Report, type Sequence } from "./useSequence";
import { t } from "../../messages/sequences";

export function SequencePage({ path }: { path: string }) {
  const [id = "", part] = path.split("/");
  return <Fetched query={useSequence(id)}>{(sequence) => (part === "edit" ? <SequenceForm sequence={sequence} /> : <One sequence={sequence} />)}</Fetched>;
}

function One({ sequence }: { sequence: Sequence }) {
  const workspaceId = useWorkspaceId();
  const editor = useMay("editor");
  const report = useReport(sequence.id);
  const plan = usePlan(sequence.id, sequence.state !== "ended");
  return (
    <Page
      title={sequence.name}
      message={
        <Group gap="xs">
          <StateBadge state={sequence.state} />
          <Anchor component={Link} to={`/w/${workspaceId}/sequences`} size="sm">
            {t("allSequences")}
          </Anchor>
        </Group>
      }
      actions={editor && <Acts sequence={sequence} />}
    >
      {sequence.state === "paused" && (
        <Alert color="yellow" role="status" title={t("itsPaused")}>
          {sequence.state_reason === null || sequence.state_reason === "" ? t("nothingIsSentUntilResumed") : asSentence(sequence.state_reason)}
        </Alert>
      )}
      <Section title={t("steps")} message={<Senders sequence={sequence} />}>
        <Steps sequence={sequence} report={report.data} />
      </Section>
      {sequence.state !== "ended" && (
        <Section title={t("plan")} message={t("planMessage")}>
          <Fetched query={plan} rows={2}>
            {(found) => <PlanView plan={found} />}
          </Fetched>
        </Section>
      )}
      <Section title={t("contactsInIt")} message={<People report={report.data} />}>
        {editor && sequence.state !== "ended" && <AddPeople sequence={sequence} />}
        <SequenceContacts sequence={sequence} />
      </Section>
    </Page>
  );
}

function Senders({ sequence }: { sequence: Sequence }) {
  const accounts = useAccounts().data?.filter(({ id }) => sequence.account_ids.includes(id)) ?? [];
  return t("sentFromAccounts", { accounts: accounts.map(({ handle }) => handle).join(", "), assignment: sequence.assignment });
}

/** How people stand: "6 planned, 2 stopped (1 reply, 1 bounce)". */
function People({ report }: { report: Report | undefined }) {
  if (report === undefined) return null;
  const stopped = Object.entries(report.stopped).map(([cause, count]) => `${count} ${causeWord(cause)}`);
  const parts = Object.entries(report.people)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count.toLocaleString("en")} ${stateName(state)}${state === "stopped" && stopped.length > 0 ? ` (${stopped.join(", ")})` : ""}`);
  return parts.length === 0 ? t("nobodyIsInIt") : parts.join(", ");
}

const stateName = (state: string): string => t("peopleState", { state });
export const causeWord = (cause: string): string => t("cause", { cause });

function Steps({ sequence, report }: { sequence: Sequence; report: Report | undefined }) {
  const templates = useTemplates();
  if (sequence.steps.length === 0) return <Text size="sm">{t("noStepsYet")}</Text>;
  return (
    <Stack component="ol" gap="xs" p={0} m={0} style={{ listStyle: "none" }}>
      {sequence.steps.map((step, at) => {
        const names = step.variants.map(({ template_version_id, share }) => {
          const name = templates.data?.find(({ version }) => version.id === template_version_id)?.name ?? t("anEarlierVersion");
          return step.variants.length > 1 ? t("variantShare", { name, share }) : name;
        });
        const lines = report?.lines.filter((line) => line.step === at) ?? [];
        const sum = (key: "sent" | "waiting" | "replied" | "bounced" | "accepted" | "not_sent" | "unconfirmed") => lines.reduce((all, line) => all + line[key], 0);
        return (
          <Paper key={at} component="li" withBorder p="sm">
            <Group justify="space-between" gap="xs">
              <div style={{ minWidth: 0 }}>
                <Text size="sm" fw={650}>
                  {t("stepNumber", { number: at + 1 })} · {channelName(step.channel)}: {names.join(", ")}
                </Text>
                <Text size="sm" c="dimmed">
                  {[at === 0 ? t("atOnce") : t("afterDays", { days: step.wait_days }), step.same_thread ? t("inTheSameThread") : null, step.only_if === null ? null : t("onceAccepted")].filter((part) => part !== null).join(" · ")}
                </Text>
              </div>
              {sequence.state !== "draft" && (
                <Group gap={6}>
                  <Badge variant="outline" color="teal">
                    {t("sentCount", { count: sum("sent") })}
                  </Badge>
                  {sum("replied") > 0 && (
                    <Badge variant="outline" color="indigo">
                      {t("repliedCount", { count: sum("replied") })}
                    </Badge>
                  )}
                  {sum("bounced") > 0 && (
                    <Badge variant="outline" color="orange">
                      {t("bouncedCount", { count: sum("bounced") })}
                    </Badge>
                  )}
                  {sum("waiting") > 0 && (
                    <Badge variant="outline" color="gray">
                      {t("waitingCount", { count: sum("waiting") })}
                    </Badge>
                  )}
                </Group>
              )}
            </Group>
          </Paper>
        );
      })}
    </Stack>
  );
}

function AddPeople({ sequence }: { sequence: Sequence }) {
  const audiences = useAudiences();
  const { add } = useSequenceActs(sequence);
  return (
    <Group gap="xs">
      <Select
        aria-label={t("addAnAudience")}
        placeholder={add.isPending ? t("adding") : t("addAnAudience")}
        searchable
        disabled={add.isPending}
        value={null}
        data={(audiences.data ?? []).map(({ id, name, size }) => ({ value: id, label: t("audienceSize", { name, size }) }))}
        onChange={(audience_id) => audience_id !== null && add.mutate({ audience_id })}
      />
      <ContactChoice label={t("addAContact")} onChoose={(id) => add.mutate({ contact_ids: [id] })} />
    </Group>
  );
}

function Acts({ sequence }: { sequence: Sequence }) {
  const workspaceId = useWorkspaceId();
  const zone = useWorkspace().data?.zone ?? "UTC";
  const go = useNavigate();
  const acts = useSequenceActs(sequence);
  const plan = usePlan(sequence.id, sequence.state === "draft");
  const { state, name } = sequence;
  const start = async () => {
    const found = plan.data;
    const message =
      found === undefined || found.first_at === null
        ? t("startWithoutPlan")
        : [t("startWithPlan", { messages: found.messages, first: momentThere(found.first_at, zone) }), bindingWords(found.binding)].filter((part) => part !== null).join(" ");
    if (await askFirst({ title: t("startName", { name }), message, yes: t("start") })) acts.start.mutate();
  };
  const pause = async () => {
    const reason = await askFor({ title: t("pauseName", { name }), message: t("nothingIsSentUntilResumed"), label: t("reasonOptional"), yes: t("pause"), optional: true });
    if (reason !== null) acts.pause.mutate(reason);
  };
  const end = async () => {
    if (await askFirst({ title: t("endName", { name }), message: t("whatIsPlannedIsCanceled"), yes: t("endSequence"), danger: true })) acts.end.mutate();
  };
  const remove = async () => {
    const yes = await askFirst({ title: t("deleteName", { name }), message: t("whatItSentStays"), yes: t("delete"), danger: true });
    if (yes) acts.remove.mutate(undefined, { onSuccess: () => void go(`/w/${workspaceId}/sequences`) });
  };
  return (
    <>
      {state === "draft" && (
        <Button leftSection={<IconPlayerPlay size={16} aria-hidden />} disabled={sequence.steps.length === 0} loading={acts.start.isPending} onClick={() => void start()}>
          {t("startDots")}
        </Button>
      )}
      {state === "running" && (
        <Button leftSection={<IconPlayerPause size={16} aria-hidden />} loading={acts.pause.isPending} onClick={() => void pause()}>
          {t("pauseDots")}
        </Button>
      )}
      {state === "paused" && (
        <Button leftSection={<IconPlayerPlay size={16} aria-hidden />} loading={acts.resume.isPending} onClick={() => acts.resume.mutate()}>
          {t("resume")}
        </Button>
      )}
      {state !== "ended" && (
        <Button variant="default" component={Link} to={`/w/${workspaceId}/sequences/${sequence.id}/edit`}>
          {t("edit")}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" px="xs" aria-label={t("more")}>
            <IconDots size={18} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(state === "running" || state === "paused") && (
            <Menu.Item color="red" onClick={() => void end()}>
              {t("endDots")}
            </Menu.Item>
          )}
          {(state === "draft" || state === "ended") && (
            <Menu.Item color="red" onClick={() => void remove()}>
              {t("deleteDots")}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
