package io.leafid.spring;

import io.leafid.Fetch;
import io.leafid.LeafidException;
import io.leafid.Segments;
import io.leafid.Snowflake;
import io.leafid.WorkerClaim;
import io.leafid.WorkerLeases;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** The properties {@code leafid.*}: one for each option of the one table. */
final class Settings {
    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("leafid");

    private static final Set<String> MACHINE = new HashSet<>(Arrays.asList(
            StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME));

    /** What is set there says nothing where a bean does. */
    private static final Set<String> YIELDING = new HashSet<>(Arrays.asList(
            StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, "defaultProperties"));

    /** What is sent to servers, or how: no option of a generator whose source has no URL. */
    private static final Set<String> OF_SERVERS = new HashSet<>(Arrays.asList(
            "token", "headers", "caFile", "requestTimeoutMs", "connectTimeoutMs"));

    /** Options whose variables have other words for a value, or no effect where the option is refused. */
    private static final Set<String> OF_VARIABLES = new HashSet<>(Arrays.asList(
            "token", "caFile", "exclusiveRange", "sharedGroup", "noRecordWaitMs"));

    private final ConfigurableEnvironment environment;
    private final Binder binder;

    Settings(ConfigurableEnvironment environment) {
        this.environment = environment;
        binder = Binder.get(environment);
        refuseUnknown(environment);
    }

    /** {@code maxBackwardsMs} is {@code leafid.max-backwards-ms}. */
    private static String property(String option) {
        return PREFIX + "." + option.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    /**
     * Passes each option that is set to {@code option}. Snowflakes and segments share properties: those of servers are for
     * whichever asks one. If neither does, both get them, and refuse them.
     */
    void into(Map<String, String> kinds, BiConsumer<String, String[]> option) {
        boolean ofSnowflake = kinds.containsKey("worker");
        boolean areForTheOther = !asksServers(ofSnowflake ? "worker" : "servers") && asksServers(ofSnowflake ? "servers" : "worker");
        kinds.forEach((name, kind) -> {
            if (areForTheOther && OF_SERVERS.contains(name)) return;
            values(property(name), kind).filter(values -> !isVariable(name, values))
                    .ifPresent(values -> option.accept(name, values));
        });
    }

    /** A variable, or a default, sets it where nothing else does, as for every language. */
    boolean isSet(String option) {
        if (texts(option).noneMatch(text -> !text.trim().isEmpty())) return false;
        ConfigurationPropertyName name = ConfigurationPropertyName.of(property(option));
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            String kind = ((PropertySource<?>) source.getUnderlyingSource()).getName();
            if (!YIELDING.contains(kind) && (source.getConfigurationProperty(name) != null
                    || source.containsDescendantOf(name) == ConfigurationPropertyState.PRESENT)) return true;
        }
        return false;
    }

    private boolean asksServers(String option) {
        return texts(option).anyMatch(source -> source.trim().toLowerCase(Locale.ROOT).matches("https?://.*"));
    }

    private Stream<String> texts(String option) {
        return Arrays.stream(binder.bind(property(option), String[].class).orElse(new String[0]));
    }

    /** {@code LEAFID_TOKEN} is {@code leafid.token} for Spring Boot. leafid reads it, too, and knows what it means. */
    private boolean isVariable(String option, String[] values) {
        PropertySource<?> variables = environment.getPropertySources()
                .get(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME);
        String name = property(option).replaceAll("[.-]", "_").toUpperCase(Locale.ROOT);
        return OF_VARIABLES.contains(option) && variables != null && values[0].equals(variables.getProperty(name));
    }

    private Optional<String[]> values(String property, String kind) {
        switch (kind) {
            case "callback":
                return Optional.empty();
            case "headers":
                return map(property, String.class, (name, text, values) -> values.add(text));
            case "tags":
                return map(property, Counter.class, (name, tag, values) -> values.addAll(Arrays.asList(tag.start, tag.step)));
            case "urls":
            case "worker":
            case "prewarm":
                return Optional.ofNullable(binder.bind(property, String[].class).orElse(null));
            default:
                return Optional.ofNullable(binder.bind(property, String.class).orElse(null))
                        .map(text -> new String[] {text});
        }
    }

    private interface Adds<V> {
        void to(String name, V value, List<String> values);
    }

    private <V> Optional<String[]> map(String property, Class<V> of, Adds<V> adds) {
        Map<String, V> map = binder.bind(property, Bindable.mapOf(String.class, of)).orElse(null);
        if (map == null) return Optional.empty();
        List<String> values = new ArrayList<>();
        map.forEach((name, value) -> {
            values.add(name);
            adds.to(name, value, values);
        });
        return Optional.of(values.toArray(new String[0]));
    }

    /** A counter of {@code file:DIR}: {@code leafid.tags.order.start} and {@code leafid.tags.order.step}. */
    static final class Counter {
        private String start = "1";
        private String step = "1000";

        public void setStart(String start) {
            this.start = start;
        }

        public void setStep(String step) {
            this.step = step;
        }
    }

    /** One that is misspelled would have no effect. The machine's have others, such as {@code -Dleafid.library}. */
    private static void refuseUnknown(ConfigurableEnvironment environment) {
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (!(source instanceof IterableConfigurationPropertySource)
                    || MACHINE.contains(((PropertySource<?>) source.getUnderlyingSource()).getName())) continue;
            for (ConfigurationPropertyName each : (IterableConfigurationPropertySource) source) {
                if (!PREFIX.isAncestorOf(each)) continue;
                Set<String> known = known();
                String uniform = each.getElement(1, Form.UNIFORM);
                if (known.stream().noneMatch(name -> name.substring(7).replace("-", "").equals(uniform))) {
                    throw new LeafidException("invalid_argument",
                            each + " is set: leafid has no such property; it has " + String.join(", ", known));
                }
            }
        }
    }

    private static Set<String> known() {
        Map<String, String> kinds = new TreeMap<>(Snowflake.builder().kinds());
        kinds.putAll(Segments.builder().kinds());
        // Those are beans.
        kinds.values().removeIf("callback"::equals);
        return kinds.keySet().stream().map(Settings::property).collect(Collectors.toCollection(TreeSet::new));
    }

    /** True where the property is set, or one of these beans is there. */
    private abstract static class Given implements ConfigurationCondition {
        private final String property;
        private final Class<?>[] beans;

        Given(String property, Class<?>... beans) {
            this.property = property;
            this.beans = beans;
        }

        @Override
        public ConfigurationPhase getConfigurationPhase() {
            return ConfigurationPhase.REGISTER_BEAN;
        }

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            if (Binder.get(context.getEnvironment()).bind(property, String[].class).isBound()) return true;
            return Arrays.stream(beans).anyMatch(
                    bean -> context.getBeanFactory().getBeanNamesForType(ResolvableType.forClass(bean), true, false).length > 0);
        }
    }

    static final class OfSnowflake extends Given {
        OfSnowflake() {
            super("leafid.worker", WorkerClaim.class, WorkerLeases.class);
        }
    }

    static final class OfSegments extends Given {
        OfSegments() {
            super("leafid.servers", Fetch.class);
        }
    }
}
