import { Alert, Button, Group, List, Modal, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate } from "react-router";

import { useAccounts } from "../../api/accounts";
import { useAct } from "../../api/act";
import { useAudiences } from "../../api/audiences";
import { api, take } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { useTemplates } from "../../api/templates";
import { askFirst } from "../../ui/ask";
import { Loading } from "../../ui/Loading";
import { Section } from "../../ui/Section";
import { fromNow, momentThere } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { channelName } from "../../ui/words";
import { inMode } from "./form";
import { TestMail } from "./steps";
import { CAMPAIGN, useCampaignActs, type Campaign, type StartPlan } from "./useCampaign";
import { boundWords } from "./words";
import { t } from "../../messages/campaigns";

type Mode = Campaign["mode"];

/** What starting comes to, by the server's own dry run; then a test, or the real thing after a question. */
export function Review({ campaign, zone, onEdit }: { campaign: Campaign; zone: string; onEdit: (step: number) => void }) {
  const workspace_id = useWorkspaceId();
  const params = { path: { workspace_id, campaign_id: campaign.id } };
  const go = useNavigate();
  const [confirming, setConfirming] = useState(false);
  const { remove } = useCampaignActs(campaign);
  const plan = useQuery({
    queryKey: [workspace_id, "dry-run", "campaign", campaign.id, campaign.revision],
    queryFn: () => take(api.POST(`${CAMPAIGN}/start`, { params: { ...params, query: { dry_run: true } } })),
    retry: false,
    staleTime: 0,
  });
  const start = useAct("campaign", async (mode: Mode) => {
    if (mode !== campaign.mode) await take(api.PUT(CAMPAIGN, { params, body: inMode(campaign, mode) }));
    return take(api.POST(`${CAMPAIGN}/start`, { params }));
  });
  const toLive = useAct("campaign", () => take(api.PUT(CAMPAIGN, { params, body: inMode(campaign, "live") })));
  const deleteDraft = async () => {
    const yes = await askFirst({ title: t("deleteNameQuestion", { name: campaign.name }), message: t("nothingOfItWasSent"), yes: t("delete"), danger: true });
    if (yes) remove.mutate(undefined, { onSuccess: () => void go(`/w/${workspace_id}/campaigns`) });
  };
  const ready = plan.data !== undefined && plan.error === null;
  return (
    <Stack mt="md">
      {plan.isPending && <Loading rows={3} />}
      {plan.error !== null && <Obstacles error={plan.error} onEdit={onEdit} />}
      {ready && <Summary campaign={campaign} plan={plan.data} zone={zone} />}
      <Section title={t("tryItFirst")} message={t("aTestRunTakesTheSamePath")}>
        <Group>
          <Button variant="default" loading={start.isPending && start.variables === "test"} onClick={() => start.mutate("test")}>
            {t("startATestRun")}
          </Button>
          {campaign.channel === "email" && <TestMail templateId={campaign.template_id} accountIds={campaign.account_ids} />}
        </Group>
      </Section>
      <Group justify="flex-end">
        <Button variant="subtle" color="red" loading={remove.isPending} onClick={() => void deleteDraft()}>
          {t("deleteDraft")}
        </Button>
        <Button variant="default" onClick={() => onEdit(0)}>
          {t("edit")}
        </Button>
        {campaign.mode === "test" ? (
          <Button loading={toLive.isPending} onClick={() => toLive.mutate()}>
            {t("makeItARealOne")}
          </Button>
        ) : (
          <Button disabled={!ready} onClick={() => setConfirming(true)}>
            {t("startCampaignDots")}
          </Button>
        )}
      </Group>
      {confirming && ready && (
        <Modal opened onClose={() => setConfirming(false)} title={t("startNameQuestion", { name: campaign.name })} size="lg">
          <Stack>
            <Summary campaign={campaign} plan={plan.data} zone={zone} />
            <Text size="sm">{t("youCanPauseItAnyTime")}</Text>
            <Group justify="flex-end">
              <Button variant="default" onClick={() => setConfirming(false)}>
                {t("cancel")}
              </Button>
              <Button loading={start.isPending} onClick={() => start.mutate("live", { onSettled: () => setConfirming(false) })}>
                {t("sendToRecipients", { recipients: plan.data.recipients })}
              </Button>
            </Group>
          </Stack>
        </Modal>
      )}
    </Stack>
  );
}

/** What keeps it from starting, and where to put it right. */
function Obstacles({ error, onEdit }: { error: Error; onEdit: (step: number) => void }) {
  const workspaceId = useWorkspaceId();
  const faults = error instanceof Problem ? error.faults : [];
  const [field] = faults.map(({ path }) => path.replace(/^body\./, ""));
  const sentences = (faults[0]?.message ?? error.message).split(/(?<=[.!?]) (?=[A-Z])/);
  return (
    <Alert color="red" role="alert" title={t("itCantStartYet")}>
      <List size="sm" mb="xs">
        {[...new Set(sentences)].map((each) => (
          <List.Item key={each}>{each}</List.Item>
        ))}
      </List>
      <Group gap="md">
        <Button size="compact-sm" variant="default" onClick={() => onEdit(field === "audience_id" ? 0 : field === "template_id" ? 1 : 2)}>
          {t("changeIt")}
        </Button>
        {sentences.some((each) => /postal address/i.test(each)) && <Link to={`/w/${workspaceId}/settings/workspace`}>{t("setThePostalAddress")}</Link>}
      </Group>
    </Alert>
  );
}

function Summary({ campaign, plan, zone }: { campaign: Campaign; plan: StartPlan; zone: string }) {
  const now = useNow();
  const audience = useAudiences().data?.find(({ id }) => id === campaign.audience_id);
  const template = useTemplates().data?.find(({ id }) => id === campaign.template_id);
  const accounts = useAccounts().data?.filter(({ id }) => plan.accounts.includes(id)) ?? [];
  const later = new Date(plan.first_at).getTime() - now.getTime() > 60_000;
  const rows: [string, string][] = [
    [t("recipients"), t("recipientsOfAudience", { recipients: plan.recipients, name: audience?.name ?? "" })],
    [t("message"), `${template?.name ?? ""} · ${channelName(campaign.channel)}`],
    [t("sendFrom"), accounts.map(({ handle }) => handle).join(", ")],
    [t("firstMessage"), later ? momentThere(plan.first_at, zone) : t("atOnce")],
    [t("lastMessage"), plan.finish_at === null ? t("dependsOnTheAccounts") : `${momentThere(plan.finish_at, zone)} (${fromNow(plan.finish_at, now)})`],
    [t("whatSetsThePace"), boundWords(plan.bound_by) ?? ""],
  ];
  return (
    <Stack gap="xs">
      {plan.warnings.map((each) => (
        <Alert key={each} color="yellow" role="status">
          {each}
        </Alert>
      ))}
      <Table aria-label={t("whatStartingComesTo")} withRowBorders={false} verticalSpacing={4}>
        <Table.Tbody>
          {rows.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={500} c="dimmed" w={180}>
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}
