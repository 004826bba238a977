package io.leafid.hibernate;

import io.leafid.Leafid;
import java.lang.reflect.Member;
import java.util.EnumSet;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.generator.AnnotationBasedGenerator;
import org.hibernate.generator.BeforeExecutionGenerator;
import org.hibernate.generator.EventType;
import org.hibernate.generator.EventTypeSets;
import org.hibernate.generator.GeneratorCreationContext;

/** The generator of {@link LeafId}: Hibernate makes it. */
public final class LeafIdGenerator implements BeforeExecutionGenerator, AnnotationBasedGenerator<LeafId> {
    private static final long serialVersionUID = 1;

    private String tag = "";

    /** As Hibernate, or Spring on its behalf, makes it. */
    public LeafIdGenerator() {}

    @Override
    public void initialize(LeafId settings, Member member, GeneratorCreationContext context) {
        tag = settings.tag();
    }

    @Override
    public Object generate(SharedSessionContractImplementor session, Object owner, Object current, EventType event) {
        return tag.isEmpty() ? Leafid.snowflake().next() : Leafid.segments().tag(tag).next();
    }

    @Override
    public EnumSet<EventType> getEventTypes() {
        return EventTypeSets.INSERT_ONLY;
    }
}
