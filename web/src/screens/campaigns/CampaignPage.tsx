// A campaign while it is sent and afterwards: how far, how fast, until when, what became of whom, and what to do about it.
import { Alert, Anchor, Button, Group, Menu, Modal, NumberInput, SimpleGrid, Stack, Text } from "@mantine/core";
import { IconDots, IconDownload, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useState, type ReactNode } from "react";
import { Link, useNavigate } from "react-router";

import { useAccounts } from "../../api/accounts";
import { useAudiences } from "../../api/audiences";
import { useMay, useWorkspace, useWorkspaceId } from "../../api/me";
import { useTemplates } from "../../api/templates";
import { askFirst } from "../../ui/ask";
import { askFor } from "../../ui/askFor";
import { Fetched } from "../../ui/Fetched";
import { Page } from "../../ui/Page";
import { saveFile } from "../../ui/saveFile";
import { Section } from "../../ui/Section";
import { StateBadge } from "../../ui/StateBadge";
import { tellProblem } from "../../ui/tell";
import { fromNow, momentThere } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { asSentence, channelName } from "../../ui/words";
import { TestBadge } from "./CampaignList";
import { OutcomeBar, OutcomeNumbers } from "./Outcomes";
import { Recipients } from "./Recipients";
import { readReport } from "./report";
import { isMoving, useCampaign, useCampaignActs, type Campaign } from "./useCampaign";
import { Wizard } from "./Wizard";
import { boundWords, finishWords } from "./words";
import { t } from "../../messages/campaigns";

export function CampaignPage({ id }: { id: string }) {
  const campaign = useCampaign(id);
  const editor = useMay("editor");
  return (
    <Fetched query={campaign}>
      {(found) => (found.state === "draft" && editor ? <Wizard campaign={found} /> : <Started campaign={found} />)}
    </Fetched>
  );
}

function Started({ campaign }: { campaign: Campaign }) {
  const workspaceId = useWorkspaceId();
  return (
    <Page
      title={campaign.name}
      message={
        <Group gap="xs">
          <StateBadge state={campaign.state} />
          {campaign.mode === "test" && <TestBadge />}
          <Anchor component={Link} to={`/w/${workspaceId}/campaigns`} size="sm">
            {t("allCampaigns")}
          </Anchor>
        </Group>
      }
      actions={<Acts campaign={campaign} />}
    >
      <Why campaign={campaign} />
      <Live campaign={campaign} />
      <Recipients campaign={campaign} />
    </Page>
  );
}

/** Why it stands still, where it does. */
function Why({ campaign }: { campaign: Campaign }) {
  if (campaign.reason === null || (campaign.state !== "paused" && campaign.state !== "failed")) return null;
  return (
    <Alert color={campaign.state === "failed" ? "red" : "yellow"} role="status" title={campaign.state === "failed" ? t("itFailed") : t("itsPaused")}>
      {asSentence(campaign.reason)}
    </Alert>
  );
}

function Live({ campaign }: { campaign: Campaign }) {
  const zone = useWorkspace().data?.zone ?? "UTC";
  const now = useNow(5_000);
  const { progress } = campaign;
  const bound = boundWords(progress.bound_by);
  const finish = finishWords(progress.finish_at, zone, now);
  const ends = campaign.ended_at === null ? null : t("endedAt", { time: momentThere(campaign.ended_at, zone) });
  const starts = campaign.state === "scheduled" && campaign.start_at !== null ? t("startsAt", { time: `${momentThere(campaign.start_at, zone)} (${fromNow(campaign.start_at, now)})` }) : null;
  return (
    <Section title={t("progress")}>
      <Group gap="xl" align="flex-end">
        <Figure name={t("doneLabel")}>{t("percent", { percent: progress.percent })}</Figure>
        <Figure name={t("recipients")}>
          {progress.total.toLocaleString("en")}
          {!progress.planned && isMoving(campaign) && (
            <Text span size="sm" c="dimmed">
              {" "}
              {t("stillCounting")}
            </Text>
          )}
        </Figure>
        <Figure name={t("speed")}>{progress.per_minute === null ? "–" : t("perMinute", { rate: progress.per_minute })}</Figure>
        <Figure name={t("limit")}>{campaign.delivery_rate === null ? t("none") : t("perMinute", { rate: campaign.delivery_rate })}</Figure>
      </Group>
      <OutcomeBar progress={progress} />
      <OutcomeNumbers progress={progress} />
      <Text size="sm" aria-live="off">
        {[starts ?? ends ?? finish, bound].filter((part) => part !== null).join(" ")}
      </Text>
      <Settings campaign={campaign} />
    </Section>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text fw={700} size="xl" lh={1.2}>
        {children}
      </Text>
    </div>
  );
}

/** What was chosen when it was made. */
function Settings({ campaign }: { campaign: Campaign }) {
  const workspaceId = useWorkspaceId();
  const audience = useAudiences().data?.find(({ id }) => id === campaign.audience_id);
  const template = useTemplates().data?.find(({ id }) => id === campaign.template_id);
  const accounts = useAccounts().data?.filter(({ id }) => campaign.account_ids.includes(id)) ?? [];
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs">
      <Chosen name={t("audience")}>
        {audience === undefined ? t("aDeletedAudience") : <Link to={`/w/${workspaceId}/contacts/audiences?audience=${audience.id}`}>{audience.name}</Link>}
      </Chosen>
      <Chosen name={t("template")}>{template === undefined ? t("aDeletedTemplate") : <Link to={`/w/${workspaceId}/templates/${template.id}`}>{template.name}</Link>}</Chosen>
      <Chosen name={channelName(campaign.channel)}>{accounts.map(({ handle }) => handle).join(", ")}</Chosen>
    </SimpleGrid>
  );
}

function Chosen({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Text size="sm">
      <Text span c="dimmed" inherit>
        {name}:
      </Text>{" "}
      {children}
    </Text>
  );
}

function Acts({ campaign }: { campaign: Campaign }) {
  const workspaceId = useWorkspaceId();
  const go = useNavigate();
  const editor = useMay("editor");
  const acts = useCampaignActs(campaign);
  const [changing, setChanging] = useState(false);
  const { state, progress } = campaign;
  const ended = campaign.ended_at !== null;
  const pause = async () => {
    const reason = await askFor({ title: t("pauseCampaign"), message: t("whatIsBeingSentFinishes"), label: t("reasonOptional"), yes: t("pause"), optional: true });
    if (reason !== null) acts.pause.mutate(reason);
  };
  const cancel = async () => {
    const message = t("whoWaitsGetsNothing", { waiting: progress.waiting });
    if (await askFirst({ title: t("cancelNameQuestion", { name: campaign.name }), message, yes: t("cancelCampaign"), no: t("keepSending"), danger: true })) acts.cancel.mutate();
  };
  const retry = async () => {
    if (await askFirst({ title: t("sendAgainQuestion", { failed: progress.failed }), message: t("onlyFailedOnesAreSentAgain"), yes: t("sendAgain") })) acts.retry.mutate();
  };
  const remove = async () => {
    const yes = await askFirst({ title: t("deleteNameQuestion", { name: campaign.name }), message: t("whatItSentStaysInActivity"), yes: t("delete"), danger: true });
    if (yes) acts.remove.mutate(undefined, { onSuccess: () => void go(`/w/${workspaceId}/campaigns`) });
  };
  const duplicate = () => acts.duplicate.mutate(undefined, { onSuccess: ({ id }) => void go(`/w/${workspaceId}/campaigns/${id}`) });
  return (
    <>
      {editor && (isMoving(campaign) || state === "scheduled") && (
        <Button leftSection={<IconPlayerPause size={16} aria-hidden />} loading={acts.pause.isPending} onClick={() => void pause()}>
          {t("pauseDots")}
        </Button>
      )}
      {editor && state === "paused" && (
        <Button leftSection={<IconPlayerPlay size={16} aria-hidden />} loading={acts.resume.isPending} onClick={() => acts.resume.mutate()}>
          {t("resume")}
        </Button>
      )}
      {editor && !ended && (
        <Button variant="default" onClick={() => setChanging(true)}>
          {t("changeSpeed")}
        </Button>
      )}
      {editor && progress.failed > 0 && state !== "canceled" && (
        <Button variant="default" loading={acts.retry.isPending} onClick={() => void retry()}>
          {t("retryFailed")}
        </Button>
      )}
      {editor && state === "completed" && campaign.mode === "test" && (
        <Button loading={acts.real.isPending} onClick={() => acts.real.mutate(undefined, { onSuccess: ({ id }) => void go(`/w/${workspaceId}/campaigns/${id}`) })}>
          {t("setUpTheRealOne")}
        </Button>
      )}
      <Report campaign={campaign} />
      {editor && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" px="xs" aria-label={t("more")}>
              <IconDots size={18} />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {state === "completed" && <Menu.Item onClick={() => acts.remaining.mutate()}>{t("sendToNewMembers")}</Menu.Item>}
            <Menu.Item onClick={duplicate}>{t("duplicate")}</Menu.Item>
            {!ended && (
              <Menu.Item color="red" onClick={() => void cancel()}>
                {t("cancelCampaignDots")}
              </Menu.Item>
            )}
            {ended && (
              <Menu.Item color="red" onClick={() => void remove()}>
                {t("deleteDots")}
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      )}
      {changing && <ChangeRate campaign={campaign} busy={acts.rate.isPending} onRate={(rate) => acts.rate.mutate(rate, { onSuccess: () => setChanging(false) })} onClose={() => setChanging(false)} />}
    </>
  );
}

function ChangeRate({ campaign, busy, onRate, onClose }: { campaign: Campaign; busy: boolean; onRate: (rate: number) => void; onClose: () => void }) {
  const [rate, setRate] = useState<number | string>(campaign.delivery_rate ?? 60);
  const valid = typeof rate === "number" && rate >= 1;
  return (
    <Modal opened onClose={onClose} title={t("changeSpeed")}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (valid) onRate(rate);
        }}
      >
        <Stack>
          <NumberInput label={t("messagesPerMinuteAtMost")} description={t("itHoldsFromTheNextMessage")} data-autofocus required min={1} max={600_000} allowDecimal={false} value={rate} onChange={setRate} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("cancel")}
            </Button>
            <Button type="submit" disabled={!valid} loading={busy}>
              {t("save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function Report({ campaign }: { campaign: Campaign }) {
  const workspaceId = useWorkspaceId();
  const [rows, setRows] = useState<number | null>(null);
  const download = async () => {
    setRows(0);
    try {
      saveFile(`${campaign.name.replaceAll(/[^\p{L}\p{N}]+/gu, "-")}.csv`, await readReport(workspaceId, campaign, setRows));
    } catch (error) {
      tellProblem(error);
    }
    setRows(null);
  };
  return (
    <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />} disabled={rows !== null} onClick={() => void download()}>
      {rows === null ? t("reportCsv") : t("readingRows", { rows })}
    </Button>
  );
}
