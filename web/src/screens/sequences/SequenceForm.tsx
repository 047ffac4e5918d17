// A sequence's form: its name, who sends, and its steps; the steps of one that was started stay as they are.
import { ActionIcon, Alert, Button, Checkbox, Fieldset, Group, NumberInput, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from "@tabler/icons-react";
import { Link, useNavigate } from "react-router";

import { useAccounts } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { useTemplates, type Template } from "../../api/templates";
import { accountLabel } from "../../ui/AccountChoice";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { channelName } from "../../ui/words";
import { sendersOf } from "../campaigns/steps";
import { useChannels } from "../composer/useChannels";
import { SEQUENCE, SEQUENCES, type Sequence, type Step } from "./useSequence";
import { t } from "../../messages/sequences";

type Channel = NonNullable<Step["channel"]>;
const channels: readonly Channel[] = ["email", "linkedin_message", "linkedin_invitation", "linkedin_inmail"];

interface StepForm {
  channel: Channel;
  wait_days: number;
  same_thread: boolean;
  once_accepted: boolean;
  variants: { template_id: string | null; share: number }[];
}

interface Values {
  name: string;
  account_ids: string[];
  assignment: Sequence["assignment"];
  steps: StepForm[];
  even: boolean;
  recipient_hours: boolean;
  stop_on: string[];
}

const newStep = (first: boolean): StepForm => ({ channel: "email", wait_days: first ? 0 : 3, same_thread: !first, once_accepted: false, variants: [{ template_id: null, share: 1 }] });

export function SequenceForm({ sequence }: { sequence: Sequence | null }) {
  const templates = useTemplates();
  if (templates.data === undefined) return <Loading />; // steps name versions, which only templates explain
  return <Form sequence={sequence} templates={templates.data} />;
}

function Form({ sequence, templates }: { sequence: Sequence | null; templates: readonly Template[] }) {
  const workspace_id = useWorkspaceId();
  const go = useNavigate();
  const [accounts, offered] = [useAccounts().data ?? [], useChannels()];
  const fixed = sequence !== null && sequence.state !== "draft";
  const form = useForm<Values>({ initialValues: sequence === null ? { name: "", account_ids: [], assignment: "round_robin", steps: [newStep(true)], even: false, recipient_hours: false, stop_on: ["reply", "bounce"] } : valuesOf(sequence, templates) });
  const { values } = form;
  const senders = [...new Map(values.steps.flatMap(({ channel }) => sendersOf(channel, accounts, offered)).map((each) => [each.id, each])).values()];
  const whole = values.name.trim() !== "" && values.account_ids.length > 0 && (fixed || (values.steps.length > 0 && values.steps.every(({ variants }) => variants.every(({ template_id }) => template_id !== null))));
  const save = useAct(
    "sequence",
    ({ steps, stop_on, ...rest }: Values) => {
      const body = { ...rest, name: rest.name.trim(), stop_on: stop_on as ("reply" | "bounce" | "accepted")[] };
      const written = steps.map(stepOf);
      if (sequence === null) return take(api.POST(SEQUENCES, { params: { path: { workspace_id } }, body: { ...body, steps: written } }));
      return take(api.PATCH(SEQUENCE, { params: { path: { workspace_id, sequence_id: sequence.id } }, body: fixed ? body : { ...body, steps: written } }));
    },
    {
      done: ({ name }) => t("nameIsSaved", { name }),
      after: ({ id }) => void go(`/w/${workspace_id}/sequences/${id}`, { replace: true }),
      refused: (error) => {
        if (error instanceof Problem) form.setErrors(error.fields);
      },
    },
  );
  const move = (from: number, to: number) => form.reorderListItem("steps", { from, to });
  return (
    <Page title={sequence === null ? t("newSequence") : t("editName", { name: sequence.name })}>
      <form onSubmit={form.onSubmit((said) => save.mutate(said))}>
        <Stack maw={860}>
          <TextInput label={t("name")} description={t("recipientsDontSeeIt")} required maxLength={200} {...form.getInputProps("name")} />
          {fixed && <Alert color="blue">{t("stepsStayAsTheyAre")}</Alert>}
          {!fixed &&
            values.steps.map((step, at) => (
              <Fieldset key={at} legend={t("stepNumber", { number: at + 1 })}>
                <Stack gap="xs">
                  <Group align="flex-end" gap="xs">
                    <Select label={t("sendBy")} w={190} allowDeselect={false} data={channels.map((value) => ({ value, label: channelName(value) }))} {...form.getInputProps(`steps.${at}.channel`)} />
                    {at > 0 && <NumberInput label={t("daysAfter")} w={170} min={0} max={90} allowDecimal={false} {...form.getInputProps(`steps.${at}.wait_days`)} />}
                    <Group gap={4} ml="auto">
                      <ActionIcon size={36} variant="subtle" color="gray" disabled={at === 0} aria-label={t("moveUp", { number: at + 1 })} onClick={() => move(at, at - 1)}>
                        <IconArrowUp size={16} />
                      </ActionIcon>
                      <ActionIcon size={36} variant="subtle" color="gray" disabled={at === values.steps.length - 1} aria-label={t("moveDown", { number: at + 1 })} onClick={() => move(at, at + 1)}>
                        <IconArrowDown size={16} />
                      </ActionIcon>
                      <ActionIcon size={36} variant="subtle" color="gray" disabled={values.steps.length === 1} aria-label={t("removeStep", { number: at + 1 })} onClick={() => form.removeListItem("steps", at)}>
                        <IconTrash size={16} />
                      </ActionIcon>
                    </Group>
                  </Group>
                  {step.variants.map((_, which) => (
                    <Group key={which} gap="xs" align="flex-end" wrap="nowrap">
                      <Select
                        style={{ flex: 1 }}
                        label={step.variants.length === 1 ? t("template") : t("templateVariant", { number: which + 1 })}
                        placeholder={t("chooseATemplate")}
                        searchable
                        required
                        data={templates.map(({ id, name }) => ({ value: id, label: name }))}
                        {...form.getInputProps(`steps.${at}.variants.${which}.template_id`)}
                      />
                      {step.variants.length > 1 && (
                        <>
                          <NumberInput label={t("share")} w={80} min={1} max={1000} allowDecimal={false} {...form.getInputProps(`steps.${at}.variants.${which}.share`)} />
                          <ActionIcon size={36} variant="subtle" color="gray" aria-label={t("removeVariant", { number: which + 1 })} onClick={() => form.removeListItem(`steps.${at}.variants`, which)}>
                            <IconTrash size={16} />
                          </ActionIcon>
                        </>
                      )}
                    </Group>
                  ))}
                  <Group gap="md">
                    <Button size="compact-sm" variant="subtle" onClick={() => form.insertListItem(`steps.${at}.variants`, { template_id: null, share: 1 })}>
                      {t("compareWithAnother")}
                    </Button>
                    {at > 0 && step.channel === "email" && <Switch size="sm" label={t("inTheSameThread")} {...form.getInputProps(`steps.${at}.same_thread`, { type: "checkbox" })} />}
                    {at > 0 && step.channel === "linkedin_message" && <Switch size="sm" label={t("onceAccepted")} {...form.getInputProps(`steps.${at}.once_accepted`, { type: "checkbox" })} />}
                  </Group>
                </Stack>
              </Fieldset>
            ))}
          {!fixed && (
            <Button w="fit-content" variant="light" leftSection={<IconPlus size={16} aria-hidden />} disabled={values.steps.length >= 20} onClick={() => form.insertListItem("steps", newStep(values.steps.length === 0))}>
              {t("addStep")}
            </Button>
          )}
          <Checkbox.Group label={t("sendFrom")} description={t("eachPersonKeepsTheirSender")} required {...form.getInputProps("account_ids")}>
            <Stack gap={6} mt={6}>
              {senders.map((each) => (
                <Checkbox key={each.id} value={each.id} label={accountLabel(each)} />
              ))}
              {senders.length === 0 && (
                <Text size="sm">
                  {t("noAccountSendsThis")} <Link to={`/w/${workspace_id}/accounts?connect`}>{t("connectAnAccount")}</Link>
                </Text>
              )}
            </Stack>
          </Checkbox.Group>
          {values.account_ids.length > 1 && (
            <Select
              label={t("whoWritesToWhom")}
              allowDeselect={false}
              maw={360}
              data={[
                { value: "round_robin", label: t("inTurn") },
                { value: "balanced", label: t("leastBusyFirst") },
                { value: "sticky", label: t("whoWroteBefore") },
              ]}
              {...form.getInputProps("assignment")}
            />
          )}
          <Checkbox.Group label={t("stopFor")} description={t("unsubscribesAlwaysStop")} {...form.getInputProps("stop_on")}>
            <Group mt={6}>
              <Checkbox value="reply" label={t("stopOnReply")} />
              <Checkbox value="bounce" label={t("stopOnBounce")} />
              <Checkbox value="accepted" label={t("stopOnAccepted")} />
            </Group>
          </Checkbox.Group>
          <Switch label={t("spreadOverTheDay")} {...form.getInputProps("even", { type: "checkbox" })} />
          <Switch label={t("alsoInTheirHours")} {...form.getInputProps("recipient_hours", { type: "checkbox" })} />
          <Group justify="flex-end">
            <Button variant="default" component={Link} to={`/w/${workspace_id}/sequences${sequence === null ? "" : `/${sequence.id}`}`}>
              {t("cancel")}
            </Button>
            <Button type="submit" disabled={!whole} loading={save.isPending}>
              {t("save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Page>
  );
}

/** A step as the server takes it: templates are frozen in their newest version. */
export function stepOf({ channel, wait_days, same_thread, once_accepted, variants }: StepForm, at: number): Step {
  return {
    channel,
    wait_days: at === 0 ? 0 : wait_days,
    same_thread: at > 0 && channel === "email" && same_thread,
    only_if: at > 0 && channel === "linkedin_message" && once_accepted ? "accepted" : null,
    variants: variants.map(({ template_id, share }) => ({ template_id: template_id ?? "", share })),
  };
}

function valuesOf(sequence: Sequence, templates: readonly Template[]): Values {
  const { name, account_ids, assignment, even, recipient_hours, stop_on } = sequence;
  const template = (version: string) => templates.find((each) => each.version.id === version)?.id ?? null;
  return {
    name,
    account_ids,
    assignment,
    even,
    recipient_hours,
    stop_on,
    steps: sequence.steps.map((step) => ({
      channel: step.channel as Channel,
      wait_days: step.wait_days,
      same_thread: step.same_thread,
      once_accepted: step.only_if === "accepted",
      variants: step.variants.map(({ template_version_id, share }) => ({ template_id: template(template_version_id), share })),
    })),
  };
}
