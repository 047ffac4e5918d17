import { Alert, Button, Group, Modal, PasswordInput, SimpleGrid, Stack, Text, TextInput, UnstyledButton, Paper } from "@mantine/core";
import { useForm, type GetInputPropsReturnType } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { Account } from "../../api/accounts";
import { useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { readAnew } from "../../api/touches";
import { Fetched } from "../../ui/Fetched";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { networkName, stopped } from "../../ui/words";
import { Brought } from "./Brought";
import { begin, complete, useNetworks, type Connection, type Network, type Question } from "./useConnect";
import { t } from "../../messages/accounts";

/** Connect an account, or one of them again. */
export function Connect({ again, onClose }: { again?: Account; onClose: () => void }) {
  const networks = useNetworks();
  const [provider, setProvider] = useState(again?.provider ?? null);
  const [brought, setBrought] = useState<Connection | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  const onAnswer = (answer: Connection) => {
    setQuestion(answer.question);
    if (answer.question === null) setBrought(answer);
  };
  const title = again !== undefined ? t("reconnectHandle", { handle: again.handle }) : provider === null ? t("connectAnAccount") : t("connectNetwork", { network: networkName(provider) });
  return (
    <Modal opened onClose={onClose} title={title} size="lg">
      {brought !== null ? (
        <Brought connection={brought} onDone={onClose} />
      ) : question !== null ? (
        <Asked key={question.state} question={question} onBack={() => setQuestion(null)} onAnswer={onAnswer} />
      ) : (
        <Fetched query={networks}>
          {(found) => {
            const network = found.find((each) => each.provider === provider);
            if (network === undefined) return <Choice networks={found} onChoose={setProvider} />;
            if (!network.ready) return <NotReady network={network} onBack={again === undefined ? () => setProvider(null) : onClose} />;
            return (
              <Fields
                network={network}
                again={again}
                onBack={again === undefined ? () => setProvider(null) : onClose}
                onAnswer={onAnswer}
              />
            );
          }}
        </Fetched>
      )}
    </Modal>
  );
}

function Choice({ networks, onChoose }: { networks: Network[]; onChoose: (provider: string) => void }) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, sm: 3 }}>
      {networks.toSorted(readyFirst).map(({ provider, ready }) => (
        <UnstyledButton key={provider} onClick={() => onChoose(provider)}>
          <Paper withBorder p="sm" h="100%">
            <Group gap="xs" wrap="nowrap">
              <NetworkIcon of={provider} size={20} />
              <Text size="sm">{networkName(provider)}</Text>
            </Group>
            {!ready && (
              <Text size="xs" c="dimmed">
                {t("needsSetupFirst")}
              </Text>
            )}
          </Paper>
        </UnstyledButton>
      ))}
    </SimpleGrid>
  );
}

/** By name, what can be connected at once before the rest. */
const readyFirst = (one: Network, other: Network) => Number(other.ready) - Number(one.ready) || networkName(one.provider).localeCompare(networkName(other.provider));

/** The installation lacks what the network asks of it: no form would help, so it says what to do. */
function NotReady({ network, onBack }: { network: Network; onBack: () => void }) {
  return (
    <Stack>
      <Alert color="yellow" title={t("networkNeedsToBeSetUp", { network: networkName(network.provider) })}>
        {t("thePersonWhoRunsThisServer", { reason: stopped(network.message) })}
      </Alert>
      <Button w="fit-content" variant="default" ml="auto" data-autofocus onClick={onBack}>
        {t("back")}
      </Button>
    </Stack>
  );
}

function Fields(props: { network: Network; again?: Account; onBack: () => void; onAnswer: (connection: Connection) => void }) {
  const { network } = props;
  const workspaceId = useWorkspaceId();
  const queries = useQueryClient();
  const form = useForm<Record<string, string>>({
    initialValues: Object.fromEntries(network.fields.map(({ name }) => [name, ""])),
    validate: Object.fromEntries(
      network.fields.map((each) => [each.name, (said: string) => (each.required && said.trim() === "" ? t("labelIsRequired", { label: each.label }) : null)]),
    ),
  });
  const ask = useMutation({
    mutationFn: (fields: Record<string, string>) => begin(workspaceId, network.provider, fields, props.again?.id ?? null),
    onSuccess: async (connection) => {
      if (connection === null) return; // on the way to the network
      await readAnew(queries, workspaceId, ["account"]);
      props.onAnswer(connection);
    },
    onError: (error) => {
      if (error instanceof Problem) form.setErrors(Object.fromEntries(Object.entries(error.fields).map(([name, message]) => [name.replace(/^fields\./, ""), message])));
    },
  });
  return (
    <form noValidate onSubmit={form.onSubmit((said) => ask.mutate(Object.fromEntries(Object.entries(said).filter(([, value]) => value !== ""))))}>
      <Stack>
        <NotConnected error={ask.error} />
        {network.fields.length === 0 && (
          <Text size="sm">{t("youllGoToNetworkToAllow", { network: networkName(network.provider) })}</Text>
        )}
        {network.fields.map((field, place) => (
          <FieldInput key={field.name} field={field} autoFocus={place === 0} {...form.getInputProps(field.name)} />
        ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onBack}>
            {t("back")}
          </Button>
          <Button type="submit" loading={ask.isPending}>
            {network.fields.length === 0 ? t("goToNetwork", { network: networkName(network.provider) }) : t("connect")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** One more thing that the network asks for on the way, such as a code that it sent. */
function Asked(props: { question: Question; onBack: () => void; onAnswer: (connection: Connection) => void }) {
  const { state, message, field } = props.question;
  const workspaceId = useWorkspaceId();
  const queries = useQueryClient();
  const form = useForm({ initialValues: { said: "" }, validate: { said: (said) => (said.trim() === "" ? t("labelIsRequired", { label: field.label }) : null) } });
  const reply = useMutation({
    mutationFn: (said: string) => complete(workspaceId, state, said),
    onSuccess: async (connection) => {
      await readAnew(queries, workspaceId, ["account"]);
      props.onAnswer(connection);
    },
  });
  return (
    <form noValidate onSubmit={form.onSubmit(({ said }) => reply.mutate(said))}>
      <Stack>
        <NotConnected error={reply.error} />
        <Text size="sm">{message}</Text>
        <FieldInput field={field} autoFocus {...form.getInputProps("said")} />
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onBack}>
            {t("startOver")}
          </Button>
          <Button type="submit" loading={reply.isPending}>
            {t("continue")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function FieldInput({ field, ...input }: { field: Network["fields"][number]; autoFocus: boolean } & GetInputPropsReturnType) {
  const Input = field.secret ? PasswordInput : TextInput;
  // The focus is set, because what was pressed to come here is gone.
  return <Input label={field.label} description={field.hint || undefined} withAsterisk={field.required} autoComplete="off" {...input} />;
}

function NotConnected({ error }: { error: Error | null }) {
  if (error === null) return null;
  return (
    <Alert role="alert" color="red" title={t("couldntConnect")}>
      {error.message}
    </Alert>
  );
}
